// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/fabric/beside.hpp"

#include <algorithm>
#include <exception>

#include "suites/fabric/aggressors.hpp"
#include "suites/patterns/random.hpp"

namespace mpigauge::fabric {

namespace {

constexpr int started_tag = 1101, stop_tag = 1102;
constexpr std::uint64_t stream_of_roles = std::uint64_t{1} << 40U;
constexpr double batch_s = 0.005;  // aggressors agree on going on as often
constexpr std::uint32_t most_batch = 1 << 16U;

// The ranks of one kind, and how they find the other one.
class Side {
 public:
  Side(MPI_Comm all, bool aggressor, int place) {
    call(MPI_Comm_split(all, aggressor ? 1 : 0, place, &comm_));
    return_errors(comm_);
  }
  ~Side() { MPI_Comm_free(&comm_); }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  [[nodiscard]] MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// Who is what: the first of the hosts as they were drawn are aggressors, for all of a launch. The
// victims are in another order each round.
struct Roles {
  int aggressors = 0;  ///< hosts
  int place = 0;       ///< of the own host among its kind
  bool aggressor = false;
  int first_aggressor = 0, first_victim = 0;  ///< hosts that lead
};

Roles roles_of(const Run& run, const Hosts& hosts) {
  const std::uint64_t seed = run.options().pairing;
  const auto drawn = patterns::random_ring(hosts.hosts, seed, stream_of_roles);
  const int aggressors = aggressor_hosts(hosts.hosts, run.options().aggressors);
  const auto victims = patterns::random_ring(hosts.hosts - aggressors, seed, run.task().round);
  const int own = hosts.host(run.rank());
  const auto victim = [&](std::size_t place) {
    const int host = aggressors + victims[place];
    return drawn[static_cast<std::size_t>(host)];
  };
  Roles roles{.aggressors = aggressors, .first_aggressor = drawn[0], .first_victim = victim(0)};
  for (int i = 0; i < aggressors; ++i) {
    if (drawn[static_cast<std::size_t>(i)] != own) continue;
    roles.aggressor = true;
    roles.place = i;
  }
  for (std::size_t i = 0; i < victims.size(); ++i) {
    if (victim(i) == own) roles.place = static_cast<int>(i);
  }
  return roles;
}

// What the first aggressor tells the others after each batch.
struct Order {
  std::uint32_t batch = 1;
  std::uint32_t go_on = 1;
};

// Works until the victims are done. The first aggressor tells them when all have begun.
class Aggressor {
 public:
  Aggressor(const Run& run, MPI_Comm comm, int first_victim)
      : all_(run.comm()), comm_(comm), victim_(first_victim), leads_(rank_in(comm) == 0) {}

  void work(Aggression aggression) {
    try {
      const auto load = load_of(aggression, comm_);
      bytes_ = load->bytes();
      while (order_.go_on != 0) batch(*load);
    } catch (const std::exception&) {
      stopped_ = true;
      finish();
    }
  }
  [[nodiscard]] Beside done() const {
    if (!leads_) return {};
    return {
        .bytes = bytes_ * static_cast<double>(times_), .seconds = seconds_, .stopped = stopped_};
  }

 private:
  void batch(Load& load) {
    const double from = platform::now_s();
    for (std::uint32_t i = 0; i < order_.batch; ++i) load.once();
    const double took = platform::now_s() - from;
    if (leads_) {
      // The first batch connects ranks, and the victims wait for it.
      if (has_begun_) times_ += order_.batch, seconds_ += took;
      else tell_victims();
      if (took < batch_s / 2 && order_.batch < most_batch) order_.batch *= 2;
      order_.go_on = is_over() ? 0 : 1;
    }
    call(MPI_Bcast(&order_, sizeof order_, MPI_BYTE, 0, comm_));
  }
  void tell_victims() {
    has_begun_ = true;
    call(MPI_Send(nullptr, 0, MPI_BYTE, victim_, started_tag, all_));
  }
  [[nodiscard]] bool is_over() const {
    int here = 0;
    call(MPI_Iprobe(victim_, stop_tag, all_, &here, MPI_STATUS_IGNORE));
    if (here != 0) take_stop();
    return here != 0;
  }
  void take_stop() const {
    call(MPI_Recv(nullptr, 0, MPI_BYTE, victim_, stop_tag, all_, MPI_STATUS_IGNORE));
  }
  // What failed cannot go on; the victims are measured all the same.
  void finish() {
    if (!leads_) return;
    if (!has_begun_) tell_victims();
    take_stop();
  }

  MPI_Comm all_, comm_;
  int victim_;
  bool leads_, has_begun_ = false, stopped_ = false;
  Order order_;
  double bytes_ = 0, seconds_ = 0;
  std::uint64_t times_ = 0;
};

void be_victim(Run& run, const Side& side, const Roles& roles, const Hosts& hosts, Victim victim) {
  Starter starter = run.team().starter->on(side.comm());
  Team team = run.team();
  team.comm = side.comm();
  team.rank = rank_in(side.comm());
  team.ranks = size_of(side.comm());
  team.starter = &starter;
  const int aggressor = hosts.rank(roles.first_aggressor, 0);
  const bool leads = team.rank == 0;
  if (leads) {
    call(MPI_Recv(nullptr, 0, MPI_BYTE, aggressor, started_tag, run.comm(), MPI_STATUS_IGNORE));
  }
  Run inner(run, team);
  const int victims = hosts.hosts - roles.aggressors;
  victim(inner, {{victims, hosts.lanes}, roles.place, hosts.lane(run.rank())});
  // All of them have to be done.
  call(MPI_Barrier(side.comm()));
  if (leads) call(MPI_Send(nullptr, 0, MPI_BYTE, aggressor, stop_tag, run.comm()));
  std::vector<Outcome> outcomes;
  outcomes.push_back(inner.take_outcome());
  run.take_over(std::move(outcomes));
}

}  // namespace

int aggressor_hosts(int hosts, int percent) {
  return std::clamp((hosts * percent + 50) / 100, 2, hosts - 2);
}

void beside(Run& run, Aggression aggression, Victim victim) {
  const Hosts hosts{run.ranks() / run.options().host_ranks, run.options().host_ranks};
  const Roles roles = roles_of(run, hosts);
  // Lane by lane, so that neighbours are on different hosts.
  const int place = hosts.lane(run.rank()) * hosts.hosts + roles.place;
  const Side side(run.comm(), roles.aggressor, place);
  if (!roles.aggressor) return be_victim(run, side, roles, hosts, victim);
  Aggressor self(run, side.comm(), hosts.rank(roles.first_victim, 0));
  self.work(aggression);
  run.sit_out();
  run.expect(0);
  run.note_beside(self.done());
}

}  // namespace mpigauge::fabric

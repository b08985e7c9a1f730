// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/fabric/beside.hpp"

#include <algorithm>
#include <exception>
#include <map>

#include "suites/fabric/aggressors.hpp"
#include "suites/patterns/random.hpp"

namespace mpigauge::fabric {

namespace {

constexpr int started_tag = 1101, stop_tag = 1102;
constexpr std::uint64_t stream_of_roles = std::uint64_t{1} << 40U;
constexpr double batch_s = 0.005;  // aggressors agree on going on as often
constexpr std::uint32_t most_batch = 1 << 16U;

// What the first aggressor tells the others after each batch.
struct Order {
  std::uint32_t batch = 1;
  std::uint32_t go_on = 1;
  std::uint32_t halvings = most_halvings;
};

// What aggressors of a kind keep from visit to visit.
struct Kept {
  Order order;
  LoadSize size;  // on the first of them
};

// The ranks of one kind in the order of a round, which all visits of the round share: to divide the
// ranks takes as long as many a visit. Kept with the communicator of all ranks.
class Side {
 public:
  Side() = default;
  ~Side() { drop(); }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  void divide(MPI_Comm all, std::uint32_t round, bool aggressor, int place) {
    if (comm_ != MPI_COMM_NULL && round == round_) return;
    drop();
    call(MPI_Comm_split(all, aggressor ? 1 : 0, place, &comm_));
    return_errors(comm_);
    round_ = round;
  }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  Kept& kept(Aggression aggression) { return kept_[aggression]; }

 private:
  void drop() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::uint32_t round_ = 0;
  std::map<Aggression, Kept> kept_;
};

int free_side(MPI_Comm /*comm*/, int /*key*/, void* value, void* /*extra*/) {
  const std::unique_ptr<Side> ended(static_cast<Side*>(value));
  return MPI_SUCCESS;
}

// MPI_COMM_NULL_COPY_FN, which does the same, is a symbol of its own in some libraries.
int copy_nothing(MPI_Comm /*from*/, int /*key*/, void* /*extra*/, void* /*value*/, void* /*copy*/,
                 int* is_copied) {
  *is_copied = 0;
  return MPI_SUCCESS;
}

Side& side_of(MPI_Comm all) {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    call(MPI_Comm_create_keyval(copy_nothing, free_side, &made, nullptr));
    return made;
  }();
  void* value = nullptr;
  int is_set = 0;
  call(MPI_Comm_get_attr(all, key, &value, &is_set));
  if (is_set == 0) {
    value = std::make_unique<Side>().release();
    call(MPI_Comm_set_attr(all, key, value));
  }
  return *static_cast<Side*>(value);
}

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

// Works until the victims are done. The first aggressor tells them when all have begun.
class Aggressor {
 public:
  Aggressor(const Run& run, MPI_Comm comm, int first_victim, Kept& kept)
      : all_(run.comm()),
        comm_(comm),
        victim_(first_victim),
        leads_(rank_in(comm) == 0),
        kept_(kept) {
    kept_.order.go_on = 1;
  }

  void work(Aggression aggression) {
    try {
      const auto load = load_of(aggression, comm_);
      while (kept_.order.go_on != 0) batch(*load);
    } catch (const std::exception&) {
      stopped_ = true;
      kept_ = {};  // ranks may have failed in different batches
      finish();
    }
  }
  [[nodiscard]] Beside done() const {
    if (!leads_) return {};
    return {.bytes = bytes_, .seconds = seconds_, .stopped = stopped_};
  }

 private:
  void batch(Load& load) {
    Order& order = kept_.order;
    const double from = platform::now_s();
    for (std::uint32_t i = 0; i < order.batch; ++i) load.once(order.halvings);
    const double took = platform::now_s() - from;
    if (leads_) decide(load, took);
    call(MPI_Bcast(&order, sizeof order, MPI_BYTE, 0, comm_));
  }
  // The first batch connects ranks, and others find the size; the victims wait for these.
  void decide(const Load& load, double took) {
    Order& order = kept_.order;
    if (!kept_.size.is_settled()) {
      kept_.size.take(took / order.batch);
      order.halvings = kept_.size.halvings();
      return;
    }
    if (has_begun_) bytes_ += order.batch * load.bytes(order.halvings), seconds_ += took;
    else tell_victims();
    if (took < batch_s / 2 && order.batch < most_batch) order.batch *= 2;
    order.go_on = is_over() ? 0 : 1;
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
  Kept& kept_;
  double bytes_ = 0, seconds_ = 0;
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
  const Hosts hosts = hosts_of(run);
  const Roles roles = roles_of(run, hosts);
  // Lane by lane, so that neighbours are on different hosts.
  const int place = hosts.lane(run.rank()) * hosts.hosts + roles.place;
  Side& side = side_of(run.comm());
  side.divide(run.comm(), run.task().round, roles.aggressor, place);
  if (!roles.aggressor) return be_victim(run, side, roles, hosts, victim);
  Aggressor self(run, side.comm(), hosts.rank(roles.first_victim, 0), side.kept(aggression));
  self.work(aggression);
  run.sit_out();
  run.expect(0);
  run.note_beside(self.done());
}

}  // namespace mpigauge::fabric

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Pairs of hosts that exchange messages: all at once, or in turns. Each round has other pairs, the
// same for both.
#include <algorithm>

#include "core/calls_forms.hpp"
#include "suites/fabric/hosts.hpp"

namespace mpigauge::fabric {
namespace {

// Beyond so many pairs several have the same turn, so that a call stays short.
constexpr int most_turns = 64;

double paired_hosts(const Shape& s) {
  const int hosts = hosts_of(s).hosts;
  return hosts - hosts % 2;
}
double of_all(const Shape& s) { return paired_hosts(s) * hosts_of(s).lanes * message(s); }
double of_one(const Shape& s) { return 2.0 * hosts_of(s).lanes * message(s); }

constexpr Card pairs_card(std::string_view name, std::string_view about, int place) {
  return fabric_card({
      .name = name,
      .about = about,
      .place = place,
      .meet = Meet::each,
      .columns = Columns::parallel,
      .moved = of_all,
      .by_pair = true,
      .sizes = large,
      .excuse = [](const Shape& s) { return too_few(s, 2); },
  });
}

std::string wrong_order(const Shape& s) {
  const std::size_t named = s.options->host_order.size();
  const auto hosts = static_cast<std::size_t>(hosts_of(s).hosts);
  if (named == 0 || named == hosts) return too_few(s, 2);
  return "the order is of " + std::to_string(named) + " hosts, there are " + std::to_string(hosts);
}
constexpr Card ordered(Card card) {
  card.options.add(SuiteOption::host_order);
  card.excuse = wrong_order;
  return card;
}

Meeting at_random(const Run& run, const Hosts& hosts) {
  return random_meeting(hosts.host(run.rank()), hosts.hosts, run.options().pairing,
                        run.task().round);
}

Meeting of_halves(const Run& run, const Hosts& hosts) {
  return halves_meeting(hosts.host(run.rank()), hosts.hosts, {}, run.task().round);
}

Meeting of_groups(const Run& run, const Hosts& hosts) {
  return halves_meeting(hosts.host(run.rank()), hosts.hosts, run.options().host_order,
                        run.task().round);
}

using Arrange = Meeting (*)(const Run&, const Hosts&);

// One rank of a pair of hosts, with the rank of the same lane.
class Exchange {
 public:
  Exchange(Run& run, const Meeting& meeting, const Hosts& hosts)
      : out_(run.send_block()), in_(run.recv_block()), comm_(run.comm()) {
    if (meeting.exists()) {
      peer_ = hosts.rank(meeting.host, hosts.lane(run.rank()));
      run.pair_with(peer_);
    } else {
      run.sit_out();
    }
  }
  void operator()(Turn t) const {
    if (peer_ < 0) return;
    std::array<MPI_Request, 2> requests{};
    irecv(in_[t], peer_, comm_, requests.data());
    isend(out_[t], peer_, comm_, &requests[1]);
    wait_all(2, requests.data());
  }
  /// Connects both, and waits until both are there: a barrier does not let all ranks go at once.
  void meet() const {
    if (peer_ < 0) return;
    const Message nothing{nullptr, 0, MPI_BYTE};
    sendrecv(nothing, peer_, nothing, peer_, comm_);
  }
  void expect(Run& run) const { run.expect(peer_ < 0 ? 0 : run.wrong(in_.bytes(), peer_, 0)); }

 private:
  Block out_, in_;
  MPI_Comm comm_;
  int peer_ = -1;
};

template <Arrange arrange>
void at_once(Run& run) {
  const Hosts hosts{run.ranks() / run.options().host_ranks, run.options().host_ranks};
  const Exchange exchange(run, arrange(run, hosts), hosts);
  exchange.meet();
  run.measure([=](Turn t) { exchange(t); });
  exchange.expect(run);
}

template <Arrange arrange>
void in_turns(Run& run) {
  const Hosts hosts{run.ranks() / run.options().host_ranks, run.options().host_ranks};
  const Meeting meeting = arrange(run, hosts);
  const Exchange exchange(run, meeting, hosts);
  const int turns = std::min(hosts.hosts / 2, most_turns);
  std::vector<std::uint64_t> own;
  own.reserve(std::size_t{run.task().warm} + run.task().samples);
  run.measure([&](Turn t) {
    for (int turn = 0; turn < turns; ++turn) {
      if (meeting.exists() && meeting.pair % turns == turn) {
        exchange.meet();
        const auto start = platform::ticks();
        exchange(t);
        own.push_back(platform::ticks() - start);
      }
      call(MPI_Barrier(run.comm()));
    }
  });
  if (meeting.exists()) run.take_ticks(std::move(own));
  exchange.expect(run);
}

// One way to pair hosts: all pairs at once, and the same ones alone.
template <Arrange arrange>
struct AddPairs {
  AddPairs(Card card, int place_alone) {
    const Add together{card, at_once<arrange>};
    card.name = keep(std::string(card.name) + "_alone");
    card.about = "The same pairs, one after the other.";
    card.place = place_alone;
    card.moved = of_one;
    const Add alone{card, in_turns<arrange>};
  }
};

const AddPairs<at_random> random{
    pairs_card(
        "Permutations",
        "All hosts in random pairs, which exchange messages at once; other pairs each round.", 10),
    20};
const AddPairs<of_halves> halves{
    pairs_card("Bisection",
               "Each host of one half exchanges messages with one of the other half, all at once.",
               30),
    40};
const AddPairs<of_groups> groups{
    ordered(pairs_card("Bisection_groups",
                       "The same with halves of whole groups, such as those of a switch "
                       "(--host-order).",
                       44)),
    46};

}  // namespace
}  // namespace mpigauge::fabric

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Pairs of hosts that exchange messages: all at once, or in turns. Each round has other pairs, the
// same for both. Bursts of short messages show what delays a message, however little it slows long
// ones: a lost packet, most of all.
#include <algorithm>

#include "core/calls_forms.hpp"
#include "core/statistics.hpp"
#include "suites/fabric/hosts.hpp"

namespace mpigauge::fabric {
namespace {

// Beyond so many pairs several have the same turn, so that a call stays short.
constexpr int most_turns = 64;

constexpr std::size_t short_bytes = 8;
constexpr int messages_of_burst = 64;  // if one packet in a hundred is lost, half of them have one
constexpr std::uint32_t bursts = 4;    // of a call, each with another host

double paired_hosts(const Shape& s) {
  const int hosts = hosts_of(s).hosts;
  return hosts - hosts % 2;
}
double of_all(const Shape& s) { return paired_hosts(s) * hosts_of(s).lanes * message(s); }
double of_bursts(const Shape& s) {
  return paired_hosts(s) * message(s) * messages_of_burst * bursts;
}
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

constexpr Card bursts_card(Card card) {
  card.only_bytes = short_bytes;
  card.moved = of_bursts;
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
  Exchange(Run& run, const Hosts& hosts)
      : run_(run), hosts_(hosts), out_(run.send_block()), in_(run.recv_block()) {}

  void choose(const Meeting& meeting) {
    peer_ = meeting.exists() ? hosts_.rank(meeting.host, hosts_.lane(run_.rank())) : -1;
    begins_ = meeting.lower;
  }
  void operator()(Turn t) const {
    if (peer_ < 0) return;
    std::array<MPI_Request, 2> requests{};
    irecv(in_[t], peer_, run_.comm(), requests.data());
    isend(out_[t], peer_, run_.comm(), &requests[1]);
    wait_all(2, requests.data());
  }
  /// One message at a time: another right behind a lost one would have it sent again at once.
  void back_and_forth(Turn t) const {
    if (peer_ < 0) return;
    if (begins_) send(out_[t], peer_, run_.comm());
    recv(in_[t], peer_, run_.comm());
    if (!begins_) send(out_[t], peer_, run_.comm());
  }
  /// Connects both, and waits until both are there: a barrier does not let all ranks go at once.
  void meet() const {
    if (peer_ < 0) return;
    const Message nothing{nullptr, 0, MPI_BYTE};
    sendrecv(nothing, peer_, nothing, peer_, run_.comm());
  }
  /// Adds the median of all calls as the time of the pair.
  void add_time() const {
    if (peer_ < 0) run_.sit_out();
    const auto& ticks = run_.outcome().ticks;
    const bool is_timed = peer_ >= 0 && !ticks.empty();
    add_time(is_timed ? median({ticks.begin(), ticks.end()}) : 0);
  }
  void add_time(double ticks) const { run_.add_pair_time({peer_, ticks}); }
  void expect() const { run_.expect(peer_ < 0 ? 0 : run_.wrong(in_.bytes(), peer_, 0)); }

 private:
  Run& run_;
  Hosts hosts_;
  Block out_, in_;
  int peer_ = -1;
  bool begins_ = false;
};

template <Arrange arrange>
void at_once(Run& run) {
  const Hosts hosts = hosts_of(run);
  Exchange exchange(run, hosts);
  exchange.choose(arrange(run, hosts));
  exchange.meet();
  run.measure([=](Turn t) { exchange(t); });
  exchange.add_time();
  exchange.expect();
}

template <Arrange arrange>
void in_turns(Run& run) {
  const Hosts hosts = hosts_of(run);
  const Meeting meeting = arrange(run, hosts);
  Exchange exchange(run, hosts);
  exchange.choose(meeting);
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
  exchange.add_time();
  exchange.expect();
}

// Random pairs, several after each other, of the first rank of each host. A pair has the mean of
// its bursts: few have a loss.
void in_bursts(Run& run) {
  const Hosts hosts = hosts_of(run);
  Exchange exchange(run, hosts);
  const int host = hosts.host(run.rank());
  const bool takes_part = hosts.lane(run.rank()) == 0;
  std::array<Meeting, bursts> meetings;
  for (std::uint32_t place = 0; place < bursts && takes_part; ++place) {
    const std::uint32_t round = run.task().round * bursts + place;
    meetings[place] = random_meeting(host, hosts.hosts, run.options().pairing, round);
  }
  std::array<double, bursts> ticks{};
  double calls = 0;
  run.measure([&](Turn t) {
    ++calls;
    for (std::uint32_t place = 0; place < bursts; ++place) {
      exchange.choose(meetings[place]);
      exchange.meet();
      const auto start = platform::ticks();
      for (int i = 0; i < messages_of_burst; ++i) exchange.back_and_forth(t);
      ticks[place] += static_cast<double>(platform::ticks() - start);
    }
  });
  for (std::uint32_t place = 0; place < bursts; ++place) {
    exchange.choose(meetings[place]);
    exchange.add_time(ticks[place] / std::max(calls, 1.0));
  }
  exchange.expect();
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
const Add short_random{
    bursts_card(
        pairs_card("Permutations8",
                   "The first ranks of all hosts in random pairs, four after each other, which "
                   "send 64 short messages back and forth.",
                   22)),
    in_bursts};
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

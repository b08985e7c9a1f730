// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What is measured beside aggressors: random pairs, a random ring, a collective.
#include <string>

#include "core/calls_forms.hpp"
#include "core/transfers.hpp"
#include "suites/fabric/beside.hpp"

namespace mpigauge::fabric {
namespace {

constexpr std::size_t few_bytes = 8;

// The host half of them away, in the own lane; the last of an odd number rests.
void pairs(Run& run, const Victims& victims) {
  const Hosts& hosts = victims.hosts;
  const int half = hosts.hosts / 2;
  if (victims.host >= 2 * half) {
    run.sit_out();
    run.measure([](Turn) {});
    return run.expect(0);
  }
  const bool lower = victims.host < half;
  const int other = lower ? victims.host + half : victims.host - half;
  ping_pong(run, {victims.lane * hosts.hosts + other, lower});
}

void around(Run& run, const Victims& /*victims*/) { ring(run); }

void allreduce(Run& run, const Victims& /*victims*/) {
  const Block out = run.send_block(), in = run.recv_block();
  const MPI_Comm comm = run.comm();
  const int count = static_cast<int>(run.count());
  const MPI_Datatype type = run.type();
  const MPI_Op op = run.op();
  run.measure([=](Turn t) { call(MPI_Allreduce(out[t].data, in[t].data, count, type, op, comm)); });
  run.expect(run.wrong_reduction(in.bytes(), 0));
}

constexpr Card victim_card(Card card) {
  card.options.add(SuiteOption::aggressors);
  card.excuse = [](const Shape& s) { return too_few(s, least_hosts); };
  return fabric_card(card);
}

double of_victims(const Shape& s) {
  const Hosts hosts = hosts_of(s);
  const int victims = hosts.hosts - aggressor_hosts(hosts.hosts, s.options->aggressors);
  return static_cast<double>(victims) * hosts.lanes * message(s);
}

constexpr Card pairs_card = victim_card({
    .name = "Latency8",
    .about = "Random pairs of hosts send one message back and forth",
    .place = 100,
    .time = Time::half_round_trip,
    .columns = Columns::parallel,
    .only_bytes = few_bytes,
});
constexpr Card ring_card = victim_card({
    .name = "Ring",
    .about = "Each host sends to the next on a random ring",
    .place = 120,
    .columns = Columns::parallel,
    .moved = of_victims,
    .sizes = large,
});
constexpr Card allreduce_card = victim_card({
    .name = "Allreduce",
    .about = "Reduces over all ranks",
    .place = 140,
    .unit = Unit::reduction,
    .sizes = large,
});
constexpr Card allreduce8_card = victim_card({
    .name = "Allreduce8",
    .about = "Reduces 8 bytes over all ranks",
    .place = 130,
    .unit = Unit::reduction,
    .only_bytes = few_bytes,
});

struct Word {
  std::string_view name, about;
};
constexpr Word word_of(Aggression aggression) {
  switch (aggression) {
    case Aggression::none: break;
    case Aggression::sleep: return {"_sleep", ", beside hosts that sleep"};
    case Aggression::alltoall: return {"_alltoall", ", beside hosts that all send to each other"};
    case Aggression::incast: return {"_incast", ", beside hosts that all send to one"};
    case Aggression::put: return {"_put", ", beside hosts that put into each other's memory"};
    case Aggression::bcast: return {"_bcast", ", beside hosts that broadcast"};
    case Aggression::allreduce: return {"_allreduce", ", beside hosts that reduce large vectors"};
  }
  return {"", ", while other hosts are idle"};
}

// A victim alone and beside each kind of aggressors.
struct AddVictim {
  AddVictim(const Card& base, Victim victim) {
    int place = base.place;
    for (const Aggression aggression : all_aggressions) {
      const Word word = word_of(aggression);
      Card card = base;
      card.name = keep(std::string(base.name) + std::string(word.name));
      card.about = keep(std::string(base.about) + std::string(word.about) + ".");
      card.place = place++;
      const Add added{card, [aggression, victim](Run& run) { beside(run, aggression, victim); }};
    }
  }
};

const AddVictim latency{pairs_card, pairs};
const AddVictim rings{ring_card, around};
const AddVictim short_reductions{allreduce8_card, allreduce};
const AddVictim reductions{allreduce_card, allreduce};

}  // namespace
}  // namespace mpigauge::fabric

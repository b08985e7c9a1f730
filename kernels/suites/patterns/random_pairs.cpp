// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <algorithm>

#include "suites/patterns/pattern.hpp"
#include "suites/patterns/random.hpp"

namespace mpigauge::patterns {
namespace {

constexpr Card uni_card = pattern_card({
    .name = "Unirandom",
    .about = "Random pairs of ranks, one after the other: the first sends to the second.",
    .place = 30,
    .ranks = Ranks::several,
    .moved = message_per_rank,
    .messages = ranks,
    .large_counts = true,
});

constexpr Card bi_card = pattern_card({
    .name = "Birandom",
    .about = "Random pairs of ranks, one after the other: both send to each other.",
    .place = 40,
    .ranks = Ranks::several,
    .moved = [](const Shape& s) { return 2 * message_per_rank(s); },
    .messages = [](const Shape& s) { return 2.0 * s.ranks; },
    .large_counts = true,
});

constexpr Card ring_card = pattern_card({
    .name = "Corandom",
    .about = "A random ring through all ranks for each call: each sends to the one behind it.",
    .place = 50,
    .ranks = Ranks::several,
    .moved = message_per_rank,
    .messages = ranks,
    .large_counts = true,
});

// One rank's part in random traffic.
struct Traffic {
  Block out, in;
  MPI_Comm comm;
  std::size_t bytes;
  Touch touch;

  void give(int to, Turn t) const {
    touch.sent(out[t], bytes);
    send(out[t], to, comm);
  }
  void take(int from, Turn t) const {
    recv(in[t], from, comm);
    touch.received(in[t], bytes);
  }
  void swap(int to, int from, Turn t) const {
    MPI_Request arrived = MPI_REQUEST_NULL;
    irecv(in[t], from, comm, &arrived);
    give(to, t);
    wait(&arrived);
    touch.received(in[t], bytes);
  }
};

Traffic traffic_of(Run& run) {
  return {run.send_block(), run.recv_block(), run.comm(), run.bytes(), touch_of(run)};
}

// Position in the cycle; every rank is at the same.
struct Position {
  std::size_t call = 0;
  std::size_t next() {
    const std::size_t now = call;
    if (++call == calls_in_cycle) call = 0;
    return now;
  }
};

// Bytes that are not those of the sender; and what came is wiped out, lest it pass for the next.
std::size_t wrong_from(int sender, Run& run, const Block& in) {
  const std::size_t wrong = run.wrong(in.bytes(), sender, 0);
  std::fill(in.bytes().begin(), in.bytes().end(), poison);
  run.push();
  return wrong;
}

template <bool both_ways>
void pairs_at_random(Run& run) {
  const Traffic traffic = traffic_of(run);
  const auto cycle = random_steps(run.rank(), run.ranks(), run.options().pairing);
  const auto act = [&](const Step& step, Turn t) {
    if (both_ways) traffic.swap(step.peer, step.peer, t);
    else if (step.first) traffic.give(step.peer, t);
    else traffic.take(step.peer, t);
  };
  if (run.checking()) {
    run.renew();
    // The whole cycle, since a rank may have nothing to receive in a single call.
    std::size_t wrong = 0;
    for (const auto& steps : cycle) {
      for (const Step& step : steps) {
        act(step, {});
        if (both_ways || !step.first) wrong += wrong_from(step.peer, run, traffic.in);
      }
    }
    return run.expect(wrong);
  }
  run.measure([&cycle, act, at = Position()](Turn t) mutable {
    for (const Step& step : cycle[at.next()]) act(step, t);
  });
}

void rings_at_random(Run& run) {
  const Traffic traffic = traffic_of(run);
  const auto cycle = random_places(run.rank(), run.ranks(), run.options().pairing);
  if (run.checking()) {
    run.renew();
    std::size_t wrong = 0;
    for (const Place& place : cycle) {
      traffic.swap(place.behind, place.before, {});
      wrong += wrong_from(place.before, run, traffic.in);
    }
    return run.expect(wrong);
  }
  run.measure([&cycle, traffic, at = Position()](Turn t) mutable {
    const Place place = cycle[at.next()];
    traffic.swap(place.behind, place.before, t);
  });
}

const Add one_way{uni_card, pairs_at_random<false>};
const Add both{bi_card, pairs_at_random<true>};
const Add rings{ring_card, rings_at_random};

}  // namespace
}  // namespace mpigauge::patterns

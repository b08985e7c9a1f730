// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/patterns/pattern.hpp"

namespace mpigauge::patterns {
namespace {

constexpr Card pingpong_card = pattern_card({
    .name = "PingPong",
    .about = "Half of the ranks send a message to the other half and get one back; half of a "
             "round trip.",
    .place = 10,
    .ranks = Ranks::pairs,
    .time = Time::half_round_trip,
    .moved = message_per_pair,
    .messages = pairs,
    .large_counts = true,
});

constexpr Card pingping_card = pattern_card({
    .name = "PingPing",
    .about = "Pairs of ranks send to each other at the same time.",
    .place = 20,
    .ranks = Ranks::pairs,
    .moved = message_per_rank,
    .messages = ranks,
    .large_counts = true,
});

void pingpong(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const Pair pair = pair_of_halves(run);
  const Touch touch = touch_of(run);
  const std::size_t bytes = run.bytes();
  const MPI_Comm comm = run.comm();
  const auto go = [=](Turn t) {
    touch.sent(out[t], bytes);
    send(out[t], pair.peer, comm);
  };
  const auto come = [=](Turn t) {
    recv(in[t], pair.peer, comm);
    touch.received(in[t], bytes);
  };
  if (pair.lower) run.measure([=](Turn t) { go(t), come(t); });
  else run.measure([=](Turn t) { come(t), go(t); });
  run.expect(run.wrong(in.bytes(), pair.peer, 0));
}

void pingping(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int peer = pair_of_halves(run).peer;
  const Touch touch = touch_of(run);
  const std::size_t bytes = run.bytes();
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) {
    MPI_Request sent = MPI_REQUEST_NULL;
    touch.sent(out[t], bytes);
    isend(out[t], peer, comm, &sent);
    recv(in[t], peer, comm);
    wait(&sent);
    touch.received(in[t], bytes);
  });
  run.expect(run.wrong(in.bytes(), peer, 0));
}

const Add there_and_back{pingpong_card, pingpong};
const Add both_at_once{pingping_card, pingping};

}  // namespace
}  // namespace mpigauge::patterns

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "MPI1",
    .name = "PingPong",
    .about = "Two ranks send one message back and forth; half of a round trip.",
    .place = 10,
    .ranks = Ranks::pair,
    .time = Time::half_round_trip,
    .columns = Columns::single,
    .moved = message,
    .messages = once,
    .large_counts = true,
};

template <bool any_source>
void pingpong(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int peer = run.peer();
  const int source = any_source ? MPI_ANY_SOURCE : peer;
  const MPI_Comm comm = run.comm();
  if (run.rank() == 0) {
    run.measure([=](Turn t) {
      send(out[t], peer, comm);
      recv(in[t], source, comm);
    });
  } else {
    run.measure([=](Turn t) {
      recv(in[t], source, comm);
      send(out[t], peer, comm);
    });
  }
  run.expect(run.wrong(in.bytes(), peer, 0));
}

const Add plain{card, pingpong<false>};
const Add specific{
    variant_of(card, "PingPongSpecificSource",
               "PingPong whose receives name the source; the same as PingPong.", card.place + 1),
    pingpong<false>};
const Add any{variant_of(card, "PingPongAnySource", "PingPong whose receives take any source.",
                         card.place + 2),
              pingpong<true>};

}  // namespace
}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/mt/threaded.hpp"

namespace mpigauge::mt {
namespace {

constexpr Card card = paired_card({
    .name = "PingPongMT",
    .about = "Each thread sends a message back and forth with a thread of its partner; half of a "
             "round trip.",
    .place = 10,
    .time = Time::half_round_trip,
    .columns = Columns::parallel,
    .moved = threads_times_message,
    .messages = per_thread,
});

void pingpong(Run& run, const Pair& pair) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int peer = pair.peer;
  const MPI_Comm comm = run.comm();
  if (pair.lower) {
    run.measure([=](Turn t) {
      send(out[t], peer, comm);
      recv(in[t], peer, comm);
    });
  } else {
    run.measure([=](Turn t) {
      recv(in[t], peer, comm);
      send(out[t], peer, comm);
    });
  }
  run.expect(run.wrong(in.bytes(), peer, 0));
}

const Add added = add_paired(card, pingpong);

}  // namespace
}  // namespace mpigauge::mt

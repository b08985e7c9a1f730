// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/mt/threaded.hpp"

namespace mpigauge::mt {
namespace {

constexpr Card card = paired_card({
    .name = "PingPingMT",
    .about = "Each thread and a thread of its partner send to each other at the same time.",
    .place = 20,
    .columns = Columns::parallel,
    .moved = threads_times_message,
    .messages = per_thread,
});

void pingping(Run& run, const Pair& pair) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int peer = pair.peer;
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) {
    MPI_Request sent = MPI_REQUEST_NULL;
    isend(out[t], peer, comm, &sent);
    recv(in[t], peer, comm);
    wait(&sent);
  });
  run.expect(run.wrong(in.bytes(), peer, 0));
}

const Add added = add_paired(card, pingping);

}  // namespace
}  // namespace mpigauge::mt

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/mt/threaded.hpp"

namespace mpigauge::mt {
namespace {

constexpr Card card = threaded_card({
    .name = "SendRecvMT",
    .about = "Threads form rings over the ranks: each sends to the right and receives from the "
             "left.",
    .place = 30,
    .columns = Columns::parallel,
    .moved = [](const Shape& s) { return 2 * threads_times_message(s); },
    .messages = [](const Shape& s) { return 2 * per_thread(s); },
});

void ring(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int right = (run.rank() + 1) % run.ranks();
  const int left = (run.rank() + run.ranks() - 1) % run.ranks();
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) { sendrecv(out[t], right, in[t], left, comm); });
  run.expect(run.wrong(in.bytes(), left, 0));
}

const Add added = add(card, ring);

}  // namespace
}  // namespace mpigauge::mt

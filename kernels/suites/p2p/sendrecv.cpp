// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "MPI1",
    .name = "Sendrecv",
    .about = "Ranks form a ring: each sends to the right and receives from the left.",
    .place = 30,
    .ranks = Ranks::any,
    .columns = Columns::parallel,
    .moved = twice_message,
    .messages = [](const Shape&) { return 2.0; },
    .large_counts = true,
};

void ring(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int right = (run.rank() + 1) % run.ranks();
  const int left = (run.rank() + run.ranks() - 1) % run.ranks();
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) { sendrecv(out[t], right, in[t], left, comm); });
  run.expect(run.wrong(in.bytes(), left, 0));
}

const Add added{card, ring};

}  // namespace
}  // namespace mpigauge

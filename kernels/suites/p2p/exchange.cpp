// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <array>

#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "MPI1",
    .name = "Exchange",
    .about = "Ranks form a ring: each exchanges messages with both neighbours.",
    .place = 40,
    .ranks = Ranks::any,
    .columns = Columns::parallel,
    .send = twice_message,
    .moved = [](const Shape& s) { return 4 * message(s); },
    .messages = [](const Shape&) { return 4.0; },
    .large_counts = true,
};

void exchange(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const std::size_t bytes = run.bytes();
  const Block to_right = out.part(0, bytes);
  const Block to_left = out.part(bytes, bytes);
  const int right = (run.rank() + 1) % run.ranks();
  const int left = (run.rank() + run.ranks() - 1) % run.ranks();
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) {
    std::array<MPI_Request, 2> sent{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    isend(to_right[t], right, comm, sent.data());
    isend(to_left[t], left, comm, &sent[1]);
    recv(in[t], left, comm);
    recv(in[t], right, comm);
    wait_all(2, sent.data());
  });
  // The later receive has the last word: the right neighbour's message to its left.
  run.expect(run.wrong(in.bytes(), right, bytes));
}

const Add added{card, exchange};

}  // namespace
}  // namespace mpigauge

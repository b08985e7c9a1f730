// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <array>

#include "suites/mt/threaded.hpp"

namespace mpigauge::mt {
namespace {

constexpr Card card = threaded_card({
    .name = "ExchangeMT",
    .about = "Threads form rings over the ranks: each exchanges messages with both neighbours.",
    .place = 40,
    .columns = Columns::parallel,
    .send = twice_message,
    .recv = twice_message,
    .moved = [](const Shape& s) { return 4 * threads_times_message(s); },
    .messages = [](const Shape& s) { return 4 * per_thread(s); },
});

void exchange(Run& run) {
  const std::size_t bytes = run.bytes();
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const Block to_right = out.part(0, bytes), to_left = out.part(bytes, bytes);
  const Block from_left = in.part(0, bytes), from_right = in.part(bytes, bytes);
  const int right = (run.rank() + 1) % run.ranks();
  const int left = (run.rank() + run.ranks() - 1) % run.ranks();
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) {
    std::array<MPI_Request, 2> sent{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    isend(to_right[t], right, comm, sent.data());
    isend(to_left[t], left, comm, &sent[1]);
    recv(from_left[t], left, comm);
    recv(from_right[t], right, comm);
    wait_all(2, sent.data());
  });
  run.expect(run.wrong(from_left.bytes(), left, 0) + run.wrong(from_right.bytes(), right, bytes));
}

const Add added = add(card, exchange);

}  // namespace
}  // namespace mpigauge::mt

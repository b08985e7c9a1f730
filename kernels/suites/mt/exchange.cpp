// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
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

void with_both(Run& run) {
  const std::size_t bytes = run.bytes();
  const Block in = run.recv_block();
  const Block from_left = in.part(0, bytes), from_right = in.part(bytes, bytes);
  const auto [left, right] = neighbours_of(run);
  exchange(run, from_left, from_right);
  run.expect(run.wrong(from_left.bytes(), left, 0) + run.wrong(from_right.bytes(), right, bytes));
}

const Add added = add(card, with_both);

}  // namespace
}  // namespace mpigauge::mt

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"
#include "core/transfers.hpp"

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
    .options = {SuiteOption::layout},
};

void with_both(Run& run) {
  const Block in = run.recv_block();
  exchange(run, in, in);
  // The later receive has the last word: the right neighbour's message to its left.
  run.expect(run.wrong(in.bytes(), neighbours_of(run).right, run.bytes()));
}

const Add added{card, with_both};

}  // namespace
}  // namespace mpigauge

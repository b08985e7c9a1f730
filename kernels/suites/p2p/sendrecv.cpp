// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"
#include "core/transfers.hpp"

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
    .options = {SuiteOption::layout},
};

const Add added{card, ring};

}  // namespace
}  // namespace mpigauge

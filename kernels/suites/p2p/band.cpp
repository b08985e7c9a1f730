// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"
#include "core/transfers.hpp"

namespace mpigauge {
namespace {

double pairs(const Shape& s) {
  const int at_once = s.ranks / 2;
  return static_cast<double>(s.inflight) * at_once;
}

constexpr Card uniband_card{
    .suite = "MPI1",
    .name = "Uniband",
    .about = "The lower half of the ranks sends many messages at once to the upper half.",
    .place = 200,
    .ranks = Ranks::pairs,
    .columns = Columns::band,
    .send = message_under_way,
    .moved = [](const Shape& s) { return pairs(s) * message(s); },
    .messages = pairs,
    .windowed = true,
    .large_counts = true,
    .options = {SuiteOption::layout},
    .by_default = false,
};

constexpr Card biband_card{
    .suite = "MPI1",
    .name = "Biband",
    .about = "Pairs of ranks send many messages at once in both directions.",
    .place = 210,
    .ranks = Ranks::pairs,
    .columns = Columns::band,
    .send = message_under_way,
    .moved = [](const Shape& s) { return 2 * pairs(s) * message(s); },
    .messages = [](const Shape& s) { return 2 * pairs(s); },
    .windowed = true,
    .large_counts = true,
    .options = {SuiteOption::layout},
    .by_default = false,
};

const Add uniband{uniband_card, [](Run& run) { one_way(run, pair_of_halves(run)); }};
const Add biband{biband_card, [](Run& run) { both_ways(run, pair_of_halves(run)); }};

}  // namespace
}  // namespace mpigauge

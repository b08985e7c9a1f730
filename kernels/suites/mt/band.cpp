// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/mt/threaded.hpp"

namespace mpigauge::mt {
namespace {

// Messages in one direction.
double under_way(const Shape& s) {
  const int pairs = paired_ranks(s.ranks, s.options->stride) / 2;
  return static_cast<double>(s.threads) * s.inflight * pairs;
}

constexpr Card uniband_card = paired_card({
    .name = "UniBandMT",
    .about = "Each thread of the lower rank of a pair sends many messages at once to the upper.",
    .place = 50,
    .columns = Columns::timed_band,
    .send = message_under_way,
    .moved = [](const Shape& s) { return under_way(s) * message(s); },
    .messages = under_way,
    .windowed = true,
});

constexpr Card biband_card = paired_card({
    .name = "BiBandMT",
    .about = "Threads of paired ranks send many messages at once in both directions.",
    .place = 60,
    .columns = Columns::timed_band,
    .send = message_under_way,
    .moved = [](const Shape& s) { return 2 * under_way(s) * message(s); },
    .messages = [](const Shape& s) { return 2 * under_way(s); },
    .windowed = true,
});

const Add uniband = add_paired(uniband_card, one_way);
const Add biband = add_paired(biband_card, both_ways);

}  // namespace
}  // namespace mpigauge::mt

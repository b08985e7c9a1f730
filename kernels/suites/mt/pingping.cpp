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

const Add added = add_paired(card, [](Run& run, const Pair& pair) { ping_ping(run, pair); });

}  // namespace
}  // namespace mpigauge::mt

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/mt/threaded.hpp"

namespace mpigauge::mt {
namespace {

constexpr Card card = paired_card({
    .name = "PingPongMT",
    .about = "Each thread sends a message back and forth with a thread of its partner; half of a "
             "round trip.",
    .place = 10,
    .time = Time::half_round_trip,
    .columns = Columns::parallel,
    .moved = threads_times_message,
    .messages = per_thread,
});

const Add added = add_paired(card, [](Run& run, const Pair& pair) { ping_pong(run, pair); });

}  // namespace
}  // namespace mpigauge::mt

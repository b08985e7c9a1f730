// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/mt/threaded.hpp"

namespace mpigauge::mt {
namespace {

constexpr Card card = threaded_card({
    .name = "SendRecvMT",
    .about = "Threads form rings over the ranks: each sends to the right and receives from the "
             "left.",
    .place = 30,
    .columns = Columns::parallel,
    .moved = [](const Shape& s) { return 2 * threads_times_message(s); },
    .messages = [](const Shape& s) { return 2 * per_thread(s); },
});

const Add added = add(card, ring);

}  // namespace
}  // namespace mpigauge::mt

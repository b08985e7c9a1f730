// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"
#include "core/transfers.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "MPI1",
    .name = "PingPing",
    .about = "Two ranks send to each other at the same time.",
    .place = 20,
    .ranks = Ranks::pair,
    .columns = Columns::single,
    .moved = message,
    .messages = once,
    .large_counts = true,
    .options = {SuiteOption::layout},
};

const Add plain{by_address(card), [](Run& run) { ping_ping(run, first_pair(run)); }};
const Add specific{
    by_address(variant_of(card, "PingPingSpecificSource",
                          "PingPing whose receives name the source; the same as PingPing.",
                          card.place + 1)),
    [](Run& run) { ping_ping(run, first_pair(run)); }};
const Add any{variant_of(card, "PingPingAnySource", "PingPing whose receives take any source.",
                         card.place + 2),
              [](Run& run) { ping_ping(run, first_pair(run), Source::any); }};

}  // namespace
}  // namespace mpigauge

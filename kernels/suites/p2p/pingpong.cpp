// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"
#include "core/transfers.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "MPI1",
    .name = "PingPong",
    .about = "Two ranks send one message back and forth; half of a round trip.",
    .place = 10,
    .ranks = Ranks::pair,
    .time = Time::half_round_trip,
    .columns = Columns::single,
    .moved = message,
    .messages = once,
    .large_counts = true,
    .options = {SuiteOption::layout},
};

const Add plain{by_address(card), [](Run& run) { ping_pong(run, first_pair(run)); }};
const Add specific{
    by_address(variant_of(card, "PingPongSpecificSource",
                          "PingPong whose receives name the source; the same as PingPong.",
                          card.place + 1)),
    [](Run& run) { ping_pong(run, first_pair(run)); }};
const Add any{variant_of(card, "PingPongAnySource", "PingPong whose receives take any source.",
                         card.place + 2),
              [](Run& run) { ping_pong(run, first_pair(run), Source::any); }};

}  // namespace
}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Two small programs that many sites have beside a benchmark suite. The whole round trip is what
// is stored (time), half of it what is called latency; neither is rounded to microseconds.
#include <array>

#include "core/benchmark.hpp"
#include "core/transfers.hpp"

namespace mpigauge {
namespace {

constexpr Card latency_card{
    .suite = "MORE",
    .name = "mpi_latency",
    .about = "One byte back and forth: the round trip, and one way as half of it.",
    .place = 80,
    .ranks = Ranks::pair,
    .time = Time::half_round_trip,
    .columns = Columns::single,
    .moved = message,
    .messages = once,
    .only_bytes = 1,
};

constexpr std::array<std::size_t, 10> lengths{1000, 2000, 3000, 4000, 5000,
                                              6000, 7000, 8000, 9000, 10000};

constexpr Card ping_pong_card{
    .suite = "MORE",
    .name = "ping_pong",
    .about = "Messages of 1000 to 10000 bytes back and forth, for a line of latency and bandwidth.",
    .place = 90,
    .ranks = Ranks::pair,
    .time = Time::half_round_trip,
    .columns = Columns::single,
    .moved = message,
    .messages = once,
    .sizes = lengths,
};

void round_trip(Run& run) { ping_pong(run, first_pair(run)); }

const Add latency{by_address(latency_card), round_trip};
const Add ping_pong{by_address(ping_pong_card), round_trip};

}  // namespace
}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Memory that ranks of one host have in common, and lines in it by which they tell each other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "core/benchmark.hpp"

namespace mpigauge::node {

inline constexpr std::array<std::string_view, 4> calls_of_shared{"MPI_Win_allocate_shared",
                                                                 "MPI_Win_shared_query"};

/// Of a benchmark that goes back and forth between two ranks of a host.
constexpr Card between_two(std::string_view name, std::string_view about, int place) {
  return {
      .suite = "NODE",
      .name = name,
      .about = about,
      .place = place,
      .ranks = Ranks::pair,
      .time = Time::half_round_trip,
      .columns = Columns::single,
      .send = nothing,
      .recv = nothing,
      .may_refuse = true,
      .needs = calls_of_shared,
  };
}

/// A cache line: a flag and what it announces.
struct alignas(64) Line {
  std::atomic<std::uint64_t> flag{0};
  std::array<std::atomic<std::uint64_t>, 7> words{};
};
static_assert(sizeof(Line) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

/// Waits until the flag is at least `value`. Where ranks have but one core between them, the other
/// one has to come to it.
inline void wait_for(const Line& line, std::uint64_t value) {
  constexpr unsigned patience = 20'000;
  unsigned looked = 0;
  while (line.flag.load(std::memory_order_acquire) < value) {
    if (++looked == patience) {
      looked = 0;
      std::this_thread::yield();
    }
  }
}

/// The part of each rank.
using Parts = std::vector<std::byte*>;

/// Gives `body` memory that all ranks of the run see, of which `bytes` are this rank's part, made
/// ready by `touch` before any rank goes on. Parts start at cache lines. Throws Refused on all
/// ranks alike where they are on different hosts. No destructor frees it: a rank that failed must
/// not wait for the others.
void in_shared(const Run& run, std::size_t bytes, const std::function<void(std::byte*)>& touch,
               const std::function<void(const Parts&)>& body);

}  // namespace mpigauge::node

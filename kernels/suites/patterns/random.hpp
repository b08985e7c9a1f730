// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Random pairs and rings of ranks that every rank draws alike, without a word between them. They
// are drawn before anything is timed, and come again after so many calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mpigauge::patterns {

constexpr std::size_t calls_in_cycle = 64;

/// Numbers that are the same wherever seed and stream are.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t stream);
  /// From 0 to `limit` - 1.
  int below(int limit);

 private:
  std::uint64_t next();
  std::uint64_t state_;
};

/// A pair of different ranks.
struct Pair {
  int first;
  int second;
};
/// The pairs of one call: as many as ranks, one after the other.
std::vector<Pair> random_pairs(int ranks, std::uint64_t seed, std::size_t call);

/// What a rank does for one of the pairs that it belongs to.
struct Step {
  int peer;
  bool first;
};
/// The steps of a rank, in order, for each call of the cycle.
std::vector<std::vector<Step>> random_steps(int rank, int ranks, std::uint64_t seed);

/// A ring through all ranks in random order.
std::vector<int> random_ring(int ranks, std::uint64_t seed, std::size_t call);
/// Who is before and behind a rank in it.
struct Place {
  int before;
  int behind;
};
/// The places of a rank for each call of the cycle.
std::vector<Place> random_places(int rank, int ranks, std::uint64_t seed);

}  // namespace mpigauge::patterns

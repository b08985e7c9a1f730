// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/patterns/random.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mpigauge::patterns {

namespace {

// Of Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

Draw::Draw(std::uint64_t seed, std::uint64_t stream)
    : state_(mixed(seed + golden) ^ mixed((stream + 1) * golden)) {}

std::uint64_t Draw::next() { return mixed(state_ += golden); }

// By multiplication: its bias is below the number of ranks over 2^32.
int Draw::below(int limit) {
  return static_cast<int>((next() >> 32U) * static_cast<std::uint64_t>(limit) >> 32U);
}

std::vector<Pair> random_pairs(int ranks, std::uint64_t seed, std::size_t call) {
  Draw draw(seed, call);
  std::vector<Pair> pairs;
  for (int i = 0; i < ranks; ++i) {
    const int first = draw.below(ranks);
    const int further = 1 + draw.below(ranks - 1);
    pairs.push_back({first, (first + further) % ranks});
  }
  return pairs;
}

std::vector<std::vector<Step>> random_steps(int rank, int ranks, std::uint64_t seed) {
  std::vector<std::vector<Step>> calls(calls_in_cycle);
  for (std::size_t call = 0; call < calls.size(); ++call) {
    for (const Pair& pair : random_pairs(ranks, seed, call)) {
      if (pair.first == rank) calls[call].push_back({pair.second, true});
      if (pair.second == rank) calls[call].push_back({pair.first, false});
    }
  }
  return calls;
}

std::vector<int> random_ring(int ranks, std::uint64_t seed, std::size_t call) {
  Draw draw(seed, call);
  std::vector<int> ring(static_cast<std::size_t>(ranks));
  std::iota(ring.begin(), ring.end(), 0);
  for (std::size_t left = ring.size(); left > 1; --left) {
    std::swap(ring[left - 1], ring[static_cast<std::size_t>(draw.below(static_cast<int>(left)))]);
  }
  return ring;
}

std::vector<Place> random_places(int rank, int ranks, std::uint64_t seed) {
  std::vector<Place> places;
  for (std::size_t call = 0; call < calls_in_cycle; ++call) {
    const std::vector<int> ring = random_ring(ranks, seed, call);
    const auto here =
        static_cast<std::size_t>(std::find(ring.begin(), ring.end(), rank) - ring.begin());
    places.push_back(
        {ring[(here + ring.size() - 1) % ring.size()], ring[(here + 1) % ring.size()]});
  }
  return places;
}

}  // namespace mpigauge::patterns

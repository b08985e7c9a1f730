// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Hosts of the suite FABRIC, and who meets whom in a round. Every rank computes its own partner
// from the seed and the number of the round, in time and memory that grow with the hosts alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/benchmark.hpp"

namespace mpigauge::fabric {

/// Ranks of one host follow each other; those with the same number on their hosts are a lane.
struct Hosts {
  int hosts = 1;
  int lanes = 1;  ///< ranks of each host
  [[nodiscard]] int host(int rank) const { return rank / lanes; }
  [[nodiscard]] int lane(int rank) const { return rank % lanes; }
  [[nodiscard]] int rank(int host, int lane) const { return host * lanes + lane; }
};
Hosts hosts_of(const Shape& shape);
Hosts hosts_of(const Run& run);
/// Why there are fewer than `least` hosts; empty: there are enough.
std::string too_few(const Shape& shape, int least);

/// The other host of a pair, and the number of the pair in its round.
struct Meeting {
  int host = -1;
  int pair = -1;
  bool lower = false;
  [[nodiscard]] bool exists() const { return host >= 0; }
};
/// All hosts in random pairs; one rests where their number is odd. Rounds are tournaments of hosts
/// in random order: each pair has met once before any meets again.
Meeting random_meeting(int host, int hosts, std::uint64_t seed, std::uint32_t round);
/// The hosts in this order (empty: as they are), the first half with the second, shifted from round
/// to round.
Meeting halves_meeting(int host, int hosts, std::span<const int> order, std::uint32_t round);

constexpr Card fabric_card(Card card) {
  card.suite = "FABRIC";
  card.ranks = Ranks::several;
  card.options.add(SuiteOption::host_ranks);
  return card;
}

inline constexpr std::array<std::size_t, 1> large{std::size_t{1} << 20U};

}  // namespace mpigauge::fabric

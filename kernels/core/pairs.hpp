// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Which two ranks measure at the same time: a matrix of all pairs, a ring, or pairs that are named.
#pragma once

#include <string>
#include <vector>

namespace mpigauge {

/// Ranks of the world; the first is rank 0 of the two.
struct RankPair {
  int first = 0, second = 0;
  friend bool operator==(const RankPair&, const RankPair&) = default;
};
/// Pairs that measure side by side, so no rank is in two of them.
using PairRound = std::vector<RankPair>;

/// Every two of so many ranks once, in as few rounds as there can be (the circle method of
/// tournaments): ranks - 1 rounds, or ranks where their number is odd.
std::vector<PairRound> rounds_of_all(int ranks);
/// Each rank with the next and the last with the first: 2 rounds, or 3 where their number is odd.
std::vector<PairRound> rounds_of_ring(int ranks);
/// Every two once, one pair in a round.
std::vector<PairRound> rounds_of_each(int ranks);

/// Which pairs are wanted, before the number of ranks is known.
struct Pairing {
  enum class Kind { all, each, ring, named } kind = Kind::all;
  std::vector<PairRound> named;  ///< the rounds of Kind::named
};
/// "all", "each" (the same, one pair at a time), "ring", or rounds of named pairs as in
/// "0-1,2-3;0-2". Throws std::invalid_argument with the reason: not of this form, a rank with
/// itself, a rank twice in a round.
Pairing parse_pairing(const std::string& text);
/// The rounds on so many ranks. Throws std::invalid_argument with the reason where a named pair
/// has a rank that the job has not, or there are fewer than 2 ranks.
std::vector<PairRound> rounds_of(const Pairing& pairing, int ranks);

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Which two ranks measure at the same time: a matrix of all pairs, a ring, or pairs that are named.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpigauge {

/// Ranks of the world; the first is rank 0 of the two.
struct RankPair {
  int first = 0, second = 0;
  friend bool operator==(const RankPair&, const RankPair&) = default;
};
/// Ranks of a communicator that are ranks 0 and 1 of a pair.
using PairAddresses = std::array<int, 2>;
/// Pairs that measure side by side, so no rank is in two of them.
using PairRound = std::vector<RankPair>;

/// Which pairs are wanted, before the number of ranks is known.
struct Pairing {
  enum class Kind { all, each, ring, named } kind = Kind::all;
  std::vector<PairRound> named;  ///< the rounds of Kind::named
};
/// "all", "each" (the same, one pair at a time), "ring", or rounds of named pairs as in
/// "0-1,2-3;0-2". Throws std::invalid_argument with the reason: not of this form, a rank with
/// itself, a rank twice in a round.
Pairing parse_pairing(const std::string& text);

/// The rounds of a pairing on so many ranks. A rank computes its partner of a round; no list of
/// pairs grows with the number of ranks, but the one that was named.
class Rounds {
 public:
  /// The place of a rank in a round.
  struct Seat {
    int index = 0;  ///< number of its pair in the round
    RankPair pair;
  };

  /// Throws std::invalid_argument with the reason where a named pair has a rank that the job has
  /// not, or there are fewer than 2 ranks.
  Rounds(const Pairing& pairing, int ranks);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The round that is measured so late. Rounds of `all` follow each other in wide steps, so that
  /// the partners of a rank are spread over all others wherever time ends.
  [[nodiscard]] std::uint64_t number(std::uint64_t place) const { return place * step_ % count_; }
  /// How many pairs a round has.
  [[nodiscard]] int pairs(std::uint64_t round) const;
  /// The pair of a rank; nothing where it rests.
  [[nodiscard]] std::optional<Seat> seat(std::uint64_t round, int rank) const;
  /// The first rank of the first pair.
  [[nodiscard]] int leader(std::uint64_t round) const { return pair(round, 0).first; }
  [[nodiscard]] RankPair pair(std::uint64_t round, int index) const;
  [[nodiscard]] Pairing::Kind kind() const { return pairing_.kind; }

 private:
  [[nodiscard]] int on_chair(std::uint64_t round, int chair) const;
  [[nodiscard]] int chair_of(std::uint64_t round, int rank) const;
  [[nodiscard]] int empty_index(std::uint64_t round) const;
  [[nodiscard]] std::optional<Seat> seat_at_table(std::uint64_t round, int rank) const;
  [[nodiscard]] int ring_first(std::uint64_t round, int index) const;

  Pairing pairing_;
  int ranks_;
  std::uint64_t count_ = 0;
  std::uint64_t step_ = 1;
};

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/pairs.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "core/reading.hpp"

namespace mpigauge {

namespace {

int rank_of(std::string_view text, std::string_view pair) {
  int rank = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc() || end != text.data() + text.size() || rank < 0) {
    throw std::invalid_argument("'" + std::string(pair) +
                                "' is not a pair of ranks, as 0-1 is one");
  }
  return rank;
}

RankPair pair_of(std::string_view text) {
  const auto ranks = parts_of(text, '-');
  if (ranks.size() != 2) return {rank_of("", text), 0};
  const RankPair pair{rank_of(ranks[0], text), rank_of(ranks[1], text)};
  if (pair.first == pair.second) {
    throw std::invalid_argument("'" + std::string(text) + "' is a rank with itself");
  }
  return pair;
}

PairRound round_of(std::string_view text) {
  PairRound round;
  std::set<int> seen;
  for (const auto part : parts_of(text, ',')) {
    const RankPair pair = pair_of(part);
    for (const int rank : {pair.first, pair.second}) {
      if (seen.insert(rank).second) continue;
      throw std::invalid_argument("rank " + std::to_string(rank) + " is twice in the round '" +
                                  std::string(text) + "'; a ';' begins a new one");
    }
    round.push_back(pair);
  }
  return round;
}

}  // namespace

// One place of the circle stays, the others move on by one; who sit opposite meet. With an odd
// number there is an empty chair, and whoever sits opposite rests.
std::vector<PairRound> rounds_of_all(int ranks) {
  const int chairs = ranks + ranks % 2;
  const int moving = chairs - 1;
  std::vector<PairRound> rounds;
  for (int turn = 0; turn < moving; ++turn) {
    const auto rank_on = [&](int chair) {
      return chair == 0 ? 0 : 1 + (chair - 1 + turn) % moving;
    };
    PairRound round;
    for (int chair = 0; chair < chairs / 2; ++chair) {
      const int a = rank_on(chair), b = rank_on(chairs - 1 - chair);
      if (a < ranks && b < ranks) round.push_back({std::min(a, b), std::max(a, b)});
    }
    rounds.push_back(round);
  }
  return rounds;
}

std::vector<PairRound> rounds_of_ring(int ranks) {
  if (ranks == 2) return {{{0, 1}}};
  std::vector<PairRound> rounds(ranks % 2 == 0 ? 2 : 3);
  for (int rank = 0; rank < ranks; ++rank) {
    const bool closes_odd = ranks % 2 != 0 && rank + 1 == ranks;
    rounds[closes_odd ? 2 : static_cast<std::size_t>(rank % 2)].push_back(
        {rank, (rank + 1) % ranks});
  }
  return rounds;
}

std::vector<PairRound> rounds_of_each(int ranks) {
  std::vector<PairRound> rounds;
  for (int a = 0; a < ranks; ++a) {
    for (int b = a + 1; b < ranks; ++b) rounds.push_back({{a, b}});
  }
  return rounds;
}

std::vector<PairRound> rounds_of(const Pairing& pairing, int ranks) {
  if (ranks < 2) throw std::invalid_argument("a pair needs 2 ranks, the job has 1");
  std::vector<PairRound> rounds;
  switch (pairing.kind) {
    case Pairing::Kind::all: rounds = rounds_of_all(ranks); break;
    case Pairing::Kind::each: rounds = rounds_of_each(ranks); break;
    case Pairing::Kind::ring: rounds = rounds_of_ring(ranks); break;
    case Pairing::Kind::named: rounds = pairing.named; break;
  }
  for (const auto& round : rounds) {
    for (const auto& pair : round) {
      const int most = std::max(pair.first, pair.second);
      if (most < ranks) continue;
      throw std::invalid_argument("there is no rank " + std::to_string(most) + ", the job has " +
                                  std::to_string(ranks));
    }
  }
  return rounds;
}

Pairing parse_pairing(const std::string& text) {
  if (text == "all") return {Pairing::Kind::all, {}};
  if (text == "each") return {Pairing::Kind::each, {}};
  if (text == "ring") return {Pairing::Kind::ring, {}};
  Pairing pairing{Pairing::Kind::named, {}};
  for (const auto part : parts_of(text, ';')) pairing.named.push_back(round_of(part));
  return pairing;
}

}  // namespace mpigauge

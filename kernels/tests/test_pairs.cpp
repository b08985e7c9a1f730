// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/pairs.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

bool disjoint(const PairRound& round) {
  std::set<int> ranks;
  return std::all_of(round.begin(), round.end(), [&](const RankPair& pair) {
    return ranks.insert(pair.first).second && ranks.insert(pair.second).second;
  });
}

std::multiset<std::pair<int, int>> pairs_in(const std::vector<PairRound>& rounds) {
  std::multiset<std::pair<int, int>> pairs;
  for (const auto& round : rounds) {
    for (const auto& pair : round) pairs.emplace(pair.first, pair.second);
  }
  return pairs;
}

std::string refusal(const char* text, int ranks = 4) {
  return check::thrown_by<std::invalid_argument>([&] { rounds_of(parse_pairing(text), ranks); });
}

}  // namespace

TEST(every_two_ranks_meet_once_in_the_fewest_rounds) {
  for (int ranks = 2; ranks <= 33; ++ranks) {
    const auto rounds = rounds_of_all(ranks);
    CHECK_EQ(static_cast<int>(rounds.size()), ranks % 2 == 0 ? ranks - 1 : ranks);
    CHECK(std::all_of(rounds.begin(), rounds.end(), disjoint));
    const auto pairs = pairs_in(rounds);
    CHECK_EQ(static_cast<int>(pairs.size()), ranks * (ranks - 1) / 2);
    for (int a = 0; a < ranks; ++a) {
      for (int b = a + 1; b < ranks; ++b) CHECK_EQ(pairs.count({a, b}), 1U);
    }
  }
}

TEST(a_ring_has_every_neighbour_once) {
  for (int ranks = 3; ranks <= 12; ++ranks) {
    const auto rounds = rounds_of_ring(ranks);
    CHECK_EQ(static_cast<int>(rounds.size()), ranks % 2 == 0 ? 2 : 3);
    CHECK(std::all_of(rounds.begin(), rounds.end(), disjoint));
    const auto pairs = pairs_in(rounds);
    CHECK_EQ(static_cast<int>(pairs.size()), ranks);
    for (int a = 0; a < ranks; ++a) CHECK_EQ(pairs.count({a, (a + 1) % ranks}), 1U);
  }
  CHECK_EQ(rounds_of_ring(2).size(), 1U);
}

TEST(one_by_one_they_are_the_same_pairs) {
  const auto single = rounds_of_each(7);
  CHECK_EQ(single.size(), 21U);
  CHECK(pairs_in(single) == pairs_in(rounds_of_all(7)));
}

TEST(rounds_as_they_are_written) {
  const auto rounds = rounds_of(parse_pairing("0-1,3-2;0-2"), 4);
  CHECK(rounds == (std::vector<PairRound>{{{0, 1}, {3, 2}}, {{0, 2}}}));
  CHECK_EQ(rounds_of(parse_pairing("all"), 4).size(), 3U);
  CHECK_EQ(rounds_of(parse_pairing("each"), 4).size(), 6U);
  CHECK_EQ(rounds_of(parse_pairing("ring"), 4).size(), 2U);
}

TEST(what_is_wrong_with_pairs_is_said) {
  CHECK_EQ(refusal("0-4"), "there is no rank 4, the job has 4");
  CHECK_EQ(refusal("0-0"), "'0-0' is a rank with itself");
  CHECK_EQ(refusal("0-1,1-2"), "rank 1 is twice in the round '0-1,1-2'; a ';' begins a new one");
  CHECK_EQ(refusal("all", 1), "a pair needs 2 ranks, the job has 1");
  for (const char* text : {"", "0", "0-", "-1", "0-1;", "0-1,,", "a-b", "0-1-2", "0 - 1"}) {
    CHECK(refusal(text).ends_with("is not a pair of ranks, as 0-1 is one"));
  }
}

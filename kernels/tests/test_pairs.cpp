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
  return check::thrown_by<std::invalid_argument>([&] { Rounds(parse_pairing(text), ranks); });
}

std::vector<PairRound> rounds_of(const char* text, int ranks) {
  const Rounds rounds(parse_pairing(text), ranks);
  std::vector<PairRound> all;
  for (std::uint64_t i = 0; i < rounds.count(); ++i) {
    PairRound round;
    for (int index = 0; index < rounds.pairs(i); ++index) round.push_back(rounds.pair(i, index));
    all.push_back(round);
  }
  return all;
}

}  // namespace

TEST(every_two_ranks_meet_once_in_the_fewest_rounds) {
  for (int ranks = 2; ranks <= 33; ++ranks) {
    const auto rounds = rounds_of("all", ranks);
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
    const auto rounds = rounds_of("ring", ranks);
    CHECK_EQ(static_cast<int>(rounds.size()), ranks % 2 == 0 ? 2 : 3);
    CHECK(std::all_of(rounds.begin(), rounds.end(), disjoint));
    const auto pairs = pairs_in(rounds);
    CHECK_EQ(static_cast<int>(pairs.size()), ranks);
    for (int a = 0; a < ranks; ++a) CHECK_EQ(pairs.count({a, (a + 1) % ranks}), 1U);
  }
  CHECK_EQ(rounds_of("ring", 2).size(), 1U);
}

TEST(one_by_one_they_are_the_same_pairs) {
  const auto single = rounds_of("each", 7);
  CHECK_EQ(single.size(), 21U);
  CHECK(pairs_in(single) == pairs_in(rounds_of("all", 7)));
}

TEST(the_first_rounds_of_a_tournament_are_the_usual_ones) {
  CHECK(rounds_of("all", 4) ==
        (std::vector<PairRound>{{{0, 3}, {1, 2}}, {{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}}));
  CHECK(rounds_of("all", 5)[0] == (PairRound{{1, 4}, {2, 3}}));
}

TEST(every_rank_finds_its_own_pair) {
  for (const char* text : {"all", "each", "ring", "0-1,3-2;1-4"}) {
    for (int ranks = 5; ranks <= 18; ++ranks) {
      const Rounds rounds(parse_pairing(text), ranks);
      for (std::uint64_t i = 0; i < rounds.count(); ++i) {
        int seated = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const auto seat = rounds.seat(i, rank);
          if (!seat) continue;
          ++seated;
          CHECK(seat->pair.first == rank || seat->pair.second == rank);
          CHECK(rounds.pair(i, seat->index) == seat->pair);
        }
        CHECK_EQ(seated, 2 * rounds.pairs(i));
      }
    }
  }
}

TEST(every_round_has_its_turn_and_the_first_turns_lie_far_apart) {
  for (const int ranks : {2, 3, 4, 5, 8, 64, 512, 10000}) {
    const Rounds rounds(parse_pairing("all"), ranks);
    std::set<std::uint64_t> seen;
    for (std::uint64_t place = 0; place < rounds.count(); ++place) {
      seen.insert(rounds.number(place));
    }
    CHECK_EQ(seen.size(), rounds.count());
  }
  const Rounds rounds(parse_pairing("all"), 1024);
  std::set<int> hosts;  // of 32 ranks, that rank 5 meets in the first 24 of 1023 rounds
  for (std::uint64_t place = 0; place < 24; ++place) {
    const RankPair pair = rounds.seat(rounds.number(place), 5).value_or(Rounds::Seat{}).pair;
    hosts.insert((pair.first == 5 ? pair.second : pair.first) / 32);
  }
  CHECK(hosts.size() > 16);
}

TEST(a_rank_of_ten_thousand_computes_its_partners) {
  constexpr int ranks = 10000, rank = 4711;
  const Rounds rounds(parse_pairing("all"), ranks);
  CHECK_EQ(rounds.count(), 9999U);
  std::vector<bool> met(ranks, false);
  for (std::uint64_t place = 0; place < rounds.count(); ++place) {
    const RankPair pair = rounds.seat(rounds.number(place), rank).value_or(Rounds::Seat{}).pair;
    const int other = pair.first == rank ? pair.second : pair.first;
    CHECK(!met[static_cast<std::size_t>(other)]);
    met[static_cast<std::size_t>(other)] = true;
  }
  CHECK_EQ(std::count(met.begin(), met.end(), true), ranks - 1);
  CHECK(Rounds(parse_pairing("each"), ranks).pair(49'994'999, 0) == (RankPair{9998, 9999}));
}

TEST(rounds_as_they_are_written) {
  const auto rounds = rounds_of("0-1,3-2;0-2", 4);
  CHECK(rounds == (std::vector<PairRound>{{{0, 1}, {3, 2}}, {{0, 2}}}));
  CHECK_EQ(rounds_of("all", 4).size(), 3U);
  CHECK_EQ(rounds_of("each", 4).size(), 6U);
  CHECK_EQ(rounds_of("ring", 4).size(), 2U);
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

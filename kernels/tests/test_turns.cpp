// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <map>
#include <set>
#include <utility>

#include "core/turns.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

TEST(each_has_each_turn_once_in_as_many_rounds) {
  for (std::size_t many = 1; many < 12; ++many) {
    for (std::size_t first = 0; first < 3 * many; first += many) {
      std::set<std::pair<std::size_t, std::size_t>> by_turn, by_round;
      for (std::size_t round = first; round < first + many; ++round) {
        for (std::size_t turn = 0; turn < many; ++turn) {
          by_turn.emplace(turn, whose_turn(turn, round, many));
          by_round.emplace(round, whose_turn(turn, round, many));
        }
      }
      CHECK_EQ(by_turn.size(), many * many);
      CHECK_EQ(by_round.size(), many * many);
    }
  }
}

TEST(each_comes_as_often_behind_each_of_the_others) {
  for (std::size_t many = 2; many < 12; ++many) {
    const std::size_t rounds = many % 2 == 0 ? many : 2 * many;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> behind;
    for (std::size_t round = 0; round < rounds; ++round) {
      for (std::size_t turn = 1; turn < many; ++turn) {
        ++behind[{whose_turn(turn - 1, round, many), whose_turn(turn, round, many)}];
      }
    }
    CHECK_EQ(behind.size(), many * (many - 1));
    for (const auto& [pair, times] : behind) CHECK_EQ(times, rounds / many);
  }
}

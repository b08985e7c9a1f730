// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/round_budget.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

struct Ended {
  std::uint64_t rounds = 0;
  double seconds = 0.0;
};

// Rounds that use their seconds, and so many more around.
Ended play(RoundBudget budget, double around_s) {
  double elapsed_s = 0.0;
  while (const auto seconds = budget.next(elapsed_s)) {
    elapsed_s += *seconds + around_s;
    budget.end_round(*seconds + around_s);
  }
  return {budget.done(), elapsed_s};
}

}  // namespace

TEST(without_a_bound_all_rounds_are_measured) {
  RoundBudget budget(3, 0, 1);
  for (int round = 0; round < 3; ++round) {
    CHECK_EQ(budget.next(1e6 * round).value_or(-1), 0.0);
    budget.end_round(1e6);
  }
  CHECK(!budget.next(0));
}

TEST(rounds_share_the_time_where_it_is_enough) {
  const RoundBudget budget(63, 63, 0.05);
  CHECK_EQ(budget.next(0).value_or(-1), 1.0);
  CHECK_EQ(play(budget, 0.001).rounds, 63U);
}

TEST(all_pairs_of_ten_thousand_ranks_fit_into_half_an_hour) {
  const Ended ended = play(RoundBudget(9999, 1800, 0.05), 0.02);
  CHECK_EQ(ended.rounds, 9999U);
  CHECK(ended.seconds < 1.2 * 1800);
}

TEST(where_time_is_short_as_many_rounds_as_fit_are_measured_well) {
  for (const double around_s : {0.0, 0.01, 0.1, 1.0}) {
    const Ended ended = play(RoundBudget(9999, 60, 0.05), around_s);
    CHECK(ended.seconds < 1.2 * 60);
    CHECK(ended.seconds > 0.8 * 60);
    CHECK(static_cast<double>(ended.rounds) > 0.8 * 60 / (0.05 + around_s));
  }
}

TEST(the_first_round_is_always_measured) {
  RoundBudget budget(9, 1, 0.05);
  CHECK(budget.next(5).has_value());
  budget.end_round(30);
  CHECK(!budget.next(35));
}

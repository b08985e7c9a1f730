// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <cmath>
#include <random>

#include "core/statistics.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values;
  for (int i = n; i >= 1; --i) values.push_back(i);
  return values;
}

}  // namespace

TEST(median_of_odd_even_and_no_values) {
  CHECK_EQ(median({3, 1, 2}), 2.0);
  CHECK_EQ(median({4, 1, 3, 2}), 2.5);
  CHECK_EQ(median({7}), 7.0);
  CHECK(std::isnan(median({})));
}

TEST(quantiles_interpolate) {
  const std::vector<double> sorted{10, 20, 30, 40, 50};
  CHECK_EQ(quantile(sorted, 0), 10.0);
  CHECK_EQ(quantile(sorted, 0.5), 30.0);
  CHECK_EQ(quantile(sorted, 0.625), 35.0);
  CHECK_EQ(quantile(sorted, 1), 50.0);
  CHECK_EQ(quantile({5}, 0.99), 5.0);
  CHECK(std::isnan(quantile({}, 0.5)));
}

// The ranks of the interval from tables of the sign test (largest k with 2 P(B < k) <= 5 %).
TEST(interval_of_the_median_has_the_ranks_of_the_binomial_table) {
  const std::vector<std::pair<int, int>> table{
      {6, 1},  {7, 1},  {8, 1},   {9, 2},   {10, 2},  {11, 2},  {12, 3},  {15, 4},  {17, 5},
      {20, 6}, {25, 8}, {30, 10}, {35, 12}, {40, 14}, {50, 18}, {70, 27}, {100, 40}};
  for (const auto& [n, k] : table) {
    const Interval interval = median_interval(one_to(n));
    CHECK_EQ(interval.low, k);
    CHECK_EQ(interval.high, n + 1 - k);
  }
}

TEST(interval_at_other_levels) {
  CHECK_EQ(least_for_interval(), 6U);
  CHECK_EQ(least_for_interval(0.90), 5U);
  CHECK_EQ(least_for_interval(0.99), 8U);
  CHECK_EQ(median_interval(one_to(20), 0.99).low, 4.0);
}

TEST(interval_of_too_few_values_is_all_of_them) {
  CHECK_EQ(median_interval({5, 3, 4}).low, 3.0);
  CHECK_EQ(median_interval({5, 3, 4}).high, 5.0);
  CHECK(std::isnan(median_interval({}).low));
}

TEST(interval_of_many_values_stays_sound) {
  // Normal approximation: n / 2 - 0.98 sqrt(n); the bound that is used may be wider, not narrower.
  for (const int n : {400, 500, 501, 1000, 100000}) {
    const Interval interval = median_interval(one_to(n));
    const double exact = n / 2.0 - 0.98 * std::sqrt(n);
    CHECK(interval.low <= exact + 1);
    CHECK(interval.low > exact - 0.45 * std::sqrt(n));
    CHECK_EQ(interval.low + interval.high, n + 1);
  }
}

TEST(interval_covers_as_often_as_it_says) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> skewed(0, 1);
  for (const int n : {6, 9, 20, 101}) {
    int covered = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> values(static_cast<std::size_t>(n));
      for (double& value : values) value = skewed(random);
      const Interval interval = median_interval(values);
      covered += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
    }
    CHECK(covered >= 2000 * 0.935);
  }
}

TEST(rank_test_tells_shifted_groups_apart) {
  const std::vector<double> low{1, 2, 3, 4, 5, 6}, high{11, 12, 13, 14, 15, 16};
  // Rank sum 21 of mean 39, variance 39: z = 2.882.
  CHECK_NEAR(rank_test(low, high), 0.00395, 1e-5);
  CHECK_EQ(rank_test(low, high), rank_test(high, low));
  CHECK_EQ(rank_test(low, low), 1.0);
  CHECK_EQ(rank_test({}, low), 1.0);
}

TEST(rank_test_with_ties) {
  const std::vector<double> same(5, 7.0), a{1, 2, 2, 3}, b{2, 3, 3, 4};
  CHECK_EQ(rank_test(same, same), 1.0);
  // Ranks of a: 1, 3, 3, 6 = 13 of mean 18; variance 12 (1 - 48 / 504): z = 1.5174.
  CHECK_NEAR(rank_test(a, b), 0.12915, 1e-4);
}

TEST(rank_test_rarely_alarms_without_cause) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise;
  int alarms = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> a(10), b(10);
    for (double& x : a) x = noise(random);
    for (double& x : b) x = noise(random);
    alarms += rank_test(a, b) < 0.01 ? 1 : 0;
  }
  CHECK(alarms < 40);
}

TEST(correlation_of_neighbours) {
  CHECK_EQ(lag_one(std::vector<double>{1, 2}), 0.0);
  CHECK_EQ(lag_one(std::vector<double>{4, 4, 4, 4}), 0.0);
  // Of the sum of squares about the mean: 80 of 128, -80 of 96, 1.25 of 5, -1 of 6.
  CHECK_NEAR(lag_one(std::vector<double>{1, 1, 1, 1, 9, 9, 9, 9}), 0.625, 1e-12);
  CHECK_NEAR(lag_one(std::vector<double>{1, 9, 1, 9, 1, 9}), -80.0 / 96, 1e-12);
  CHECK_NEAR(lag_one(std::vector<double>{1, 2, 3, 4}), 0.25, 1e-12);
  CHECK_NEAR(lag_one(std::vector<double>{1, 1, 4}), -1.0 / 6, 1e-12);
}

TEST(largest_gap_lies_between_two_groups) {
  CHECK_NEAR(largest_gap({10, 10, 11, 11, 19, 19, 20, 20}, 0.15), 8.0 / 15, 1e-12);
  // One outlier is not a second group.
  CHECK_NEAR(largest_gap({10, 10, 10, 10, 10, 10, 10, 99}, 0.15), 0.0, 1e-12);
  CHECK_EQ(largest_gap({1, 2, 3}, 0.15), 0.0);
}

TEST(largest_gap_leaves_out_a_share_of_either_end) {
  CHECK_NEAR(largest_gap({1, 2, 3, 9}, 0), 6.0 / 2.5, 1e-12);  // one value is the least
  CHECK_NEAR(largest_gap({1, 7, 8, 9}, 0), 6.0 / 7.5, 1e-12);
  CHECK_NEAR(largest_gap({1, 2, 3, 9}, 0.26), 1.0 / 2.5, 1e-12);  // two
  CHECK_NEAR(largest_gap({1, 2, 3, 9}, 0.25), 6.0 / 2.5, 1e-12);
}

TEST(overlap_is_the_hidden_share_of_the_longer_or_the_shorter) {
  CHECK_NEAR(overlap(60, 50, 80, false), 0.5, 1e-12);
  CHECK_NEAR(overlap(60, 50, 80, true), 0.6, 1e-12);
  CHECK_EQ(overlap(60, 50, 200, false), 0.0);
  CHECK_EQ(overlap(60, 50, 40, false), 1.0);
  CHECK(std::isnan(overlap(0, 0, 5, false)));
  CHECK(std::isnan(overlap(0, 5, 5, true)));
  CHECK_EQ(overlap(0, 5, 5, false), 0.0);
}

TEST(interval_of_501_values_is_hoeffding_s) {
  // 250.5 - sqrt(501 ln(40) / 2) = 220.1; of 500 values the binomial has it: 228.
  CHECK_EQ(median_interval(one_to(501)).low, 220.0);
  CHECK_EQ(median_interval(one_to(500)).low, 228.0);
}

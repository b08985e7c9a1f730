// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Statistics of samples: pure functions of numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mpigauge {

/// Median of the values (mean of the two in the middle); NaN for none.
double median(std::vector<double> values);
/// The q-quantile by linear interpolation between order statistics, 0 <= q <= 1.
double quantile(const std::vector<double>& sorted, double q);

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// Interval that covers the median of the population with at least the given probability, from
/// order statistics: [x_(k), x_(n+1-k)] with the largest k such that
/// 1 - 2 P(Binomial(n, 1/2) < k) >= level. Smallest to largest where no k reaches it.
Interval median_interval(std::vector<double> values, double level = 0.95);
/// Fewest values that reach the level: 6 for 95 %.
std::size_t least_for_interval(double level = 0.95);

/// Share of the shorter (or the longer) of communication and computation that went on during the
/// other, in 0 ... 1: (pure + cpu - both) / max(pure, cpu); NaN where both are nothing.
double overlap(double pure, double cpu, double both, bool of_shorter);

/// Two-sided p-value of the Mann-Whitney test, normal approximation with correction for ties.
double rank_test(std::span<const double> a, std::span<const double> b);
/// Correlation of neighbours; 0 for fewer than three values or no spread.
double lag_one(std::span<const double> values);
/// Largest gap between neighbours of the sorted values, relative to their median, with at least
/// `share` of the values on each side of it.
double largest_gap(std::vector<double> values, double share);

}  // namespace mpigauge

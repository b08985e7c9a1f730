// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace mpigauge {

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

namespace {

// Largest k with P(Binomial(n, 1/2) < k) <= (1 - level) / 2; 0 where there is none.
std::size_t order_of_interval(std::size_t n, double level) {
  const double tail = (1 - level) / 2;
  if (n >
      500) {  // there 2^-n is not a double any more; Hoeffding: P(X < k) <= exp(-2 (n/2 - k)^2 / n)
    const auto all = static_cast<double>(n);
    return static_cast<std::size_t>(all / 2 - std::sqrt(all * std::log(1 / tail) / 2));
  }
  double term = std::pow(0.5, static_cast<double>(n)), below = 0.0;
  std::size_t k = 0;
  while (k < n / 2 + 1) {
    if (below + term > tail) break;
    below += term;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

}  // namespace

Interval median_interval(std::vector<double> values, double level) {
  if (values.empty()) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none};
  }
  std::sort(values.begin(), values.end());
  const std::size_t k = std::max<std::size_t>(order_of_interval(values.size(), level), 1);
  return {values[k - 1], values[values.size() - k]};
}

std::size_t least_for_interval(double level) {
  std::size_t n = 1;
  while (order_of_interval(n, level) == 0) ++n;
  return n;
}

double overlap(double pure, double cpu, double both, bool of_shorter) {
  const double whole = of_shorter ? std::min(pure, cpu) : std::max(pure, cpu);
  if (!(whole > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp((pure + cpu - both) / whole, 0.0, 1.0);
}

double rank_test(std::span<const double> a, std::span<const double> b) {
  const auto n = a.size(), m = b.size(), all = n + m;
  if (n == 0 || m == 0) return 1.0;
  std::vector<std::pair<double, bool>> pooled;
  pooled.reserve(all);
  for (const double x : a) pooled.emplace_back(x, true);
  for (const double x : b) pooled.emplace_back(x, false);
  std::sort(pooled.begin(), pooled.end());
  double rank_sum = 0.0, ties = 0.0;
  for (std::size_t i = 0; i < all;) {
    std::size_t j = i;
    while (j < all && pooled[j].first == pooled[i].first) ++j;
    const double rank = static_cast<double>(i + 1 + j) / 2;
    for (std::size_t k = i; k < j; ++k) rank_sum += pooled[k].second ? rank : 0.0;
    const auto tied = static_cast<double>(j - i);
    ties += tied * tied * tied - tied;
    i = j;
  }
  const auto x = static_cast<double>(n), y = static_cast<double>(m), z = static_cast<double>(all);
  const double mean = x * (z + 1) / 2;
  const double variance = x * y / 12 * (z + 1 - ties / (z * (z - 1)));
  if (variance <= 0) return 1.0;
  return std::erfc(std::fabs(rank_sum - mean) / std::sqrt(2 * variance));
}

double lag_one(std::span<const double> values) {
  if (values.size() < 3) return 0.0;
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double products = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double here = values[i] - mean;
    squares += here * here;
    if (i > 0) products += here * (values[i - 1] - mean);
  }
  return squares > 0 ? products / squares : 0.0;
}

double largest_gap(std::vector<double> values, double share) {
  if (values.size() < 4) return 0.0;
  std::sort(values.begin(), values.end());
  const auto edge = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size()))));
  double gap = 0.0;
  for (std::size_t i = edge; i + edge <= values.size(); ++i) {
    gap = std::max(gap, values[i] - values[i - 1]);
  }
  return gap / median(std::move(values));
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/hits.hpp"

#include <algorithm>

namespace mpigauge {

namespace {

// What a sample takes that none hits, as long as not three of four are hit.
constexpr double calm_quantile = 0.25;
// A sample that is longer by half of a short detour (a tenth of them are shorter) has met one.
constexpr double short_share = 0.1, part_of_short = 0.5;
// More than this is somebody else's doing: what was found in a tenth of a second is not an exact
// rate.
constexpr double most_of_expected = 1.5;

double calm_ticks(const Cell& cell) {
  std::vector<double> all;
  for (const Chunk& chunk : cell.chunks()) {
    all.insert(all.end(), chunk.slowest.begin(), chunk.slowest.end());
  }
  std::sort(all.begin(), all.end());
  return quantile(all, calm_quantile);
}

// A cell with only those samples that take no longer than this; visits without any are left out.
Cell up_to(double most_ticks, const Cell& cell, double resolution) {
  Cell left(resolution);
  for (Chunk chunk : cell.chunks()) {
    std::erase_if(chunk.slowest,
                  [&](std::uint64_t ticks) { return static_cast<double>(ticks) > most_ticks; });
    if (!chunk.slowest.empty()) left.add(std::move(chunk));
  }
  return left;
}

}  // namespace

bool spread_by_detours(const Cell& cell, const Rules& rules, double target) {
  if (cell.chunks().empty() || rules.detours.per_second() <= 0) return false;
  const double calm_s = calm_ticks(cell) / rules.hz;
  const double least_s =
      std::max(target * calm_s, part_of_short * rules.detours.length_s(short_share));
  const Cell calm = up_to((calm_s + least_s) * rules.hz, cell, rules.clock_step_ticks);
  const auto all = static_cast<double>(cell.samples());
  const double hit = all - static_cast<double>(calm.samples());
  const double expected = all * rules.detours.hit_ratio(calm_s, rules.cores, least_s);
  return hit <= most_of_expected * expected && calm.estimate().error() <= target;
}

}  // namespace mpigauge

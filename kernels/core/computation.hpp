// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A computation that lasts as long as it is told: arithmetic in registers, so that it competes with
// communication for the core alone, not for caches or memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "platform/clock.hpp"

namespace mpigauge {

/// The arithmetic: so many steps, each of which needs the result of the one before.
void compute(std::uint64_t steps);

/// How many steps last how long; in ticks of whatever clock it was calibrated with.
class Pace {
 public:
  Pace() = default;
  explicit Pace(double ticks_per_step) : ticks_per_step_(ticks_per_step) {}
  [[nodiscard]] double ticks_per_step() const { return ticks_per_step_; }
  [[nodiscard]] bool known() const { return ticks_per_step_ > 0; }
  [[nodiscard]] std::uint64_t steps(double ticks) const {
    return known() && ticks > 0 ? static_cast<std::uint64_t>(std::llround(ticks / ticks_per_step_))
                                : 0;
  }

 private:
  double ticks_per_step_ = 0.0;
};

/// How a computation took compared to what was asked of it.
enum class Kept {
  yes,
  too_fast,  ///< the pace is wrong: the clock frequency has risen, say
  too_slow,  ///< the pace is wrong, or others had the core
};

/// Ticks that a computation may be off for reasons of the clock, and the share it may be off at
/// all.
struct Tolerance {
  double ticks = 0.0;
  double share = 0.1;
};
Kept kept(double asked, double took, Tolerance tolerance);

/// Measures the pace of `work(steps)` by the clock `now()`. The shortest of several attempts
/// counts, as nothing can make them too short; the difference of two lengths, as that is free of
/// what starting and clock reading cost. A single attempt lasts `least` ticks or more.
template <class Work, class Now>
Pace calibrate(Work work, Now now, double least) {
  constexpr int attempts = 7;
  constexpr std::uint64_t most_steps = std::uint64_t{1} << 40U;
  const auto lasts = [&](std::uint64_t steps) {
    double shortest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < attempts; ++i) {
      const auto start = now();
      work(steps);
      shortest = std::min(shortest, static_cast<double>(now() - start));
    }
    return shortest;
  };
  std::uint64_t steps = 64;
  double once = lasts(steps);
  while (once < least && steps < most_steps) once = lasts(steps *= 2);
  const double twice = lasts(2 * steps);
  return Pace(std::max(twice - once, once / 2) / static_cast<double>(steps));
}

/// The pace of compute() on this process's core: measured when it is first asked for and again
/// after forget_pace().
Pace pace();
void forget_pace();

/// Rate of the clock of the samples.
double ticks_per_second();

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/computation.hpp"

namespace mpigauge {

namespace {

constexpr double attempt_s = 20e-6;  // below a time slice by far, above the clock's cost by far

Pace& known_pace() {
  static Pace pace;
  return pace;
}

}  // namespace

// A chain of a multiplication and an addition. It nears 1 and stays normal.
[[gnu::noinline]] void compute(std::uint64_t steps) {
  static volatile double result = 0.5;
  double x = result;
  for (std::uint64_t i = 0; i < steps; ++i) x = x * 0.75 + 0.25;
  result = x;
}

Kept kept(double asked, double took, Tolerance tolerance) {
  const double off = tolerance.ticks + tolerance.share * asked;
  if (took > asked + off) return Kept::too_slow;
  return took < asked - off ? Kept::too_fast : Kept::yes;
}

Pace pace() {
  if (!known_pace().known()) {
    known_pace() = calibrate(compute, platform::ticks, attempt_s * ticks_per_second());
  }
  return known_pace();
}

void forget_pace() { known_pace() = Pace(); }

double ticks_per_second() {
  static const double hz = platform::clock_facts().hz;
  return hz;
}

}  // namespace mpigauge

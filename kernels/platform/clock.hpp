// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The clock of the measuring loop: the processor's own counter where it is invariant, else
// CLOCK_MONOTONIC. One tick is 1 / clock_facts().hz seconds.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

namespace mpigauge::platform {

using Ticks = std::uint64_t;

namespace detail {
extern bool counter_is_invariant;

inline Ticks monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<Ticks>(now.tv_sec) * 1'000'000'000U + static_cast<Ticks>(now.tv_nsec);
}
}  // namespace detail

/// The time now, in ticks. Waits for the instructions before it to finish.
inline Ticks ticks() noexcept {
#if defined(__x86_64__)
  if (detail::counter_is_invariant) [[likely]] {
    unsigned int processor = 0;
    return __builtin_ia32_rdtscp(&processor);
  }
#elif defined(__aarch64__)
  if (detail::counter_is_invariant) [[likely]] {
    Ticks now;
    asm volatile("isb; mrs %0, cntvct_el0" : "=r"(now) : : "memory");
    return now;
  }
#endif
  return detail::monotonic_ns();
}

/// What is known of the clock: which one it is, its rate, what one reading costs and the smallest
/// step that two readings were seen to differ by. Measured, not looked up.
struct ClockFacts {
  std::string name;
  double hz = 0.0;
  double cost_s = 0.0;
  double step_s = 0.0;
};

/// Chooses the clock and notes the time; call first of all, so that the rate has a long base line.
void start_clock();

/// The facts, with the rate from the whole time since start_clock() (waits until that is 20 ms).
ClockFacts clock_facts();

/// Seconds of CLOCK_MONOTONIC: for budgets and time-outs, never for samples.
double now_s() noexcept;

}  // namespace mpigauge::platform

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The clock of the profiler: the processor's counter, read without waiting for what goes before
// (which would cost twice as much), else CLOCK_MONOTONIC.
#pragma once

#include <time.h>

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace mpigauge::profile {

using Ticks = std::uint64_t;

/// Whether the processor's counter runs at one rate, also while it sleeps.
extern constinit bool counter_is_invariant;
/// Sets it; before anything is timed.
void choose_clock();

inline Ticks nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<Ticks>(now.tv_sec) * 1'000'000'000U + static_cast<Ticks>(now.tv_nsec);
}

inline Ticks ticks() {
#if defined(__x86_64__)
  if (counter_is_invariant) [[likely]]
    return __rdtsc();
#elif defined(__aarch64__)
  if (counter_is_invariant) [[likely]] {
    Ticks now;
    asm volatile("mrs %0, cntvct_el0" : "=r"(now) : : "memory");
    return now;
  }
#endif
  return nanoseconds_of(CLOCK_MONOTONIC);
}

}  // namespace mpigauge::profile

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mpigauge::profile {

constinit bool counter_is_invariant = false;

void choose_clock() {
#if defined(__x86_64__)
  constexpr unsigned power_management = 0x80000007;
  constexpr unsigned invariant = 1U << 8U;
  unsigned a = 0, b = 0, c = 0, d = 0;
  counter_is_invariant = __get_cpuid(power_management, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
#elif defined(__aarch64__)
  counter_is_invariant = true;  // as the architecture demands
#endif
}

}  // namespace mpigauge::profile

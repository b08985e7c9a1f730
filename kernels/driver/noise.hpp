// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How much of a core others take: a loop that does nothing but read the clock, and notes the gaps.
#pragma once

#include "platform/platform.hpp"

namespace mpigauge {

struct Noise {
  double seconds = 0.0;
  long detours = 0;         ///< gaps longer than a microsecond
  double lost_ratio = 0.0;  ///< share of the time spent in them
  double longest_s = 0.0;
};

/// Watches the calling thread's core for so many seconds.
Noise listen(double seconds, double hz);

}  // namespace mpigauge

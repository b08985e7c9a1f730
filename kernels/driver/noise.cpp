// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/noise.hpp"

#include <algorithm>

namespace mpigauge {

Noise listen(double seconds, double hz) {
  constexpr double detour_s = 1e-6;
  const auto length = static_cast<platform::Ticks>(seconds * hz);
  const auto detour = static_cast<platform::Ticks>(detour_s * hz);
  Noise noise;
  platform::Ticks lost = 0, longest = 0;
  const auto start = platform::ticks();
  auto last = start;
  while (last - start < length) {
    const auto now = platform::ticks();
    const auto gap = now - last;
    if (gap > detour) {
      ++noise.detours;
      lost += gap;
      longest = std::max(longest, gap);
    }
    last = now;
  }
  noise.seconds = static_cast<double>(last - start) / hz;
  noise.lost_ratio = static_cast<double>(lost) / static_cast<double>(last - start);
  noise.longest_s = static_cast<double>(longest) / hz;
  return noise;
}

}  // namespace mpigauge

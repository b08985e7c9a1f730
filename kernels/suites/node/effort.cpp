// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/effort.hpp"

#include <algorithm>

#include "platform/platform.hpp"

namespace mpigauge::node {

Effort Effort::so_far() { return {platform::thread_cpu_s(), platform::now_s()}; }

void Effort::add_since(const Effort& before) {
  const Effort now = so_far();
  for (const auto& [thread, seconds] : now.cpu_s) {
    const auto then = before.cpu_s.find(thread);
    cpu_s[thread] += seconds - (then != before.cpu_s.end() ? then->second : 0);
  }
  wall_s += now.wall_s - before.wall_s;
}

BusyWith Effort::busy() const {
  double all = 0, most = 0;
  for (const auto& [thread, seconds] : cpu_s) {
    all += seconds;
    most = std::max(most, seconds);
  }
  if (most <= 0 || wall_s <= 0) return {};
  return {all / wall_s, all / most};
}

}  // namespace mpigauge::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "platform/platform.hpp"
#include "platform/taken.hpp"

namespace mpigauge::platform {

namespace {

// The second number of schedstat: nanoseconds on a run queue without running.
double waited_s() {
  std::ifstream file("/proc/thread-self/schedstat");
  double ran = 0, waited = 0;
  return file >> ran >> waited ? waited * 1e-9 : 0.0;
}

long times_switched_out() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

// Field 8 of the "cpuN" line of /proc/stat: time that the hypervisor gave to others.
long stolen_jiffies(int cpu) {
  std::ifstream file("/proc/stat");
  const auto name = "cpu" + std::to_string(cpu);
  std::string line;
  while (std::getline(file, line) && line.starts_with("cpu")) {
    if (!line.starts_with(name + ' ')) continue;
    long value = 0;
    const char* at = line.c_str() + name.size();
    for (int field = 0; field < 8; ++field) {
      char* end = nullptr;
      value = std::strtol(at, &end, 10);
      at = end;
    }
    return value;
  }
  return 0;
}

Taken taken_so_far() {
  const auto jiffies = static_cast<double>(stolen_jiffies(current_cpu()));
  return {.stolen_s = jiffies / static_cast<double>(sysconf(_SC_CLK_TCK)),
          .waited_s = waited_s(),
          .switches = times_switched_out()};
}

}  // namespace mpigauge::platform

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "platform/memory.hpp"

namespace mpigauge::platform {

namespace {

constexpr double kib = 1024.0;
constexpr double no_limit = 1e18;  // version 1 says "no limit" with a huge number
constexpr double unknown = std::numeric_limits<double>::infinity();

double number_in(const std::string& path) {
  std::ifstream file(path);
  double value = unknown;
  file >> value;
  return file ? value : unknown;
}

// The files of a limit and of the most that was taken, by version of control groups.
struct Names {
  std::string controller, folder, limit, peak;
};

double left_in(const std::string& folder, const Names& names) {
  const double limit = number_in(folder + '/' + names.limit);
  const double peak = number_in(folder + '/' + names.peak);
  return limit < no_limit && std::isfinite(peak) ? limit - peak : unknown;
}

// The group's folder and all above it; in a container only the upper ones may be visible.
double left_up_the_tree(const std::string& root, std::string path, const Names& names) {
  const std::string top = root + names.folder;
  double left = unknown;
  for (;;) {
    left = std::min(left, left_in(top + path, names));
    if (path.empty()) return left;
    path.erase(path.find_last_of('/'));
  }
}

bool lists(const std::string& controllers, const std::string& wanted) {
  return (',' + controllers + ',').find(',' + wanted + ',') != std::string::npos;
}

double shared_resident() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RssShmem:")) return std::strtod(line.c_str() + 9, nullptr) * kib;
  }
  return 0.0;
}

}  // namespace

double memory_left(const std::string& root) {
  const Names versions[]{
      {"", "/sys/fs/cgroup", "memory.max", "memory.peak"},
      {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"},
  };
  std::ifstream file(root + "/proc/self/cgroup");
  double left = unknown;
  for (std::string line; std::getline(file, line);) {  // number:controllers:path
    std::istringstream fields(line);
    std::string number, controllers, path;
    std::getline(fields, number, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    for (const Names& names : versions) {
      if (!lists(controllers, names.controller)) continue;
      const bool below = path.size() > 1 && path.front() == '/';
      left = std::min(left, left_up_the_tree(root, below ? path : "", names));
    }
  }
  return left;
}

MemoryUse memory_use() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {static_cast<double>(usage.ru_maxrss) * kib, shared_resident(), memory_left("")};
}

}  // namespace mpigauge::platform

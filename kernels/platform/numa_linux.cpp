// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Calls of the system itself, since not every machine has libnuma.
#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "platform/numa.hpp"

namespace mpigauge::platform {

namespace {

constexpr int bind_strictly = 2;  // MPOL_BIND of <linux/mempolicy.h>, which may be missing
constexpr int interleave = 3;     // MPOL_INTERLEAVE
constexpr std::size_t bits = CHAR_BIT * sizeof(unsigned long);

std::string text_of(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string line_of(const std::string& path) {
  const std::string text = text_of(path);
  return text.substr(0, text.find('\n'));
}

// "Node 0 MemTotal:   16384 kB", and /proc's "Name:\tvalue".
std::string value_of(const std::string& text, const std::string& name) {
  const auto at = text.find(name);
  if (at == std::string::npos) return "";
  const auto first = text.find_first_not_of(" \t", at + name.size());
  return text.substr(first, text.find('\n', first) - first);
}

std::size_t bytes_of(const std::string& text, const std::string& name) {
  return std::strtoull(value_of(text, name).c_str(), nullptr, 10) * 1024;
}

std::vector<int> numbers_in(const std::string& text) {
  std::istringstream words(text);
  std::vector<int> all;
  for (int number = 0; words >> number;) all.push_back(number);
  return all;
}

std::vector<int> nodes_in(const std::string& folder) {
  std::vector<int> numbers;
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return numbers;
  while (const dirent* entry = readdir(entries)) {
    const std::string name(entry->d_name);
    char* end = nullptr;
    if (!name.starts_with("node") || name.size() == 4) continue;
    const long number = std::strtol(name.c_str() + 4, &end, 10);
    if (*end == '\0') numbers.push_back(static_cast<int>(number));
  }
  closedir(entries);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

NumaNode node_of(const std::string& folder, int number) {
  const std::string at = folder + "/node" + std::to_string(number);
  const std::string memory = text_of(at + "/meminfo");
  NumaNode node;
  node.number = number;
  const bool told = !value_of(memory, "MemTotal:").empty();
  node.has_memory = !told || bytes_of(memory, "MemTotal:") > 0;
  node.free_bytes = told ? bytes_of(memory, "MemFree:") + bytes_of(memory, "Active(file):") +
                               bytes_of(memory, "Inactive(file):")
                         : std::numeric_limits<std::size_t>::max();
  node.cpus = parse_cpuset(line_of(at + "/cpulist")).value_or(CpuSet{});
  node.distances = numbers_in(line_of(at + "/distance"));
  return node;
}

int integer_in(const std::string& path) {
  return static_cast<int>(std::strtol(line_of(path).c_str(), nullptr, 10));
}

// Older kernels have the second name alone.
int core_of(const std::string& folder, int cpu) {
  for (const auto* name : {"core_cpus_list", "thread_siblings_list"}) {
    const auto cpus = parse_cpuset(line_of(folder + name));
    if (cpus && !cpus->empty()) return cpus->front();
  }
  return cpu;
}

class SystemCalls : public NumaCalls {
 public:
  [[nodiscard]] std::vector<NumaNode> nodes() const override { return numa_nodes(""); }

  [[nodiscard]] int put(std::byte* at, std::size_t bytes,
                        const std::vector<int>& nodes) const override {
    std::vector<unsigned long> mask(static_cast<std::size_t>(nodes.back()) / bits + 1);
    for (const int node : nodes) {
      mask[static_cast<std::size_t>(node) / bits] |= 1UL << (static_cast<std::size_t>(node) % bits);
    }
    // The kernel takes one bit less than it is told that there are.
    const long done = syscall(SYS_mbind, at, bytes, nodes.size() > 1 ? interleave : bind_strictly,
                              mask.data(), mask.size() * bits + 1, 0UL);
    return done == 0 ? 0 : errno;
  }

  [[nodiscard]] int look(std::span<void*> pages, std::span<int> nodes) const override {
    const long done =
        syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0);
    return done == 0 ? 0 : errno;
  }
};

}  // namespace

std::vector<NumaNode> numa_nodes(const std::string& root) {
  const std::string folder = root + "/sys/devices/system/node";
  const std::string status = text_of(root + "/proc/self/status");
  const auto allowed = parse_cpuset(value_of(status, "Mems_allowed_list:"));
  std::vector<NumaNode> nodes;
  for (const int number : nodes_in(folder)) {
    const bool may = !allowed || allowed->empty() ||
                     std::binary_search(allowed->begin(), allowed->end(), number);
    if (may) nodes.push_back(node_of(folder, number));
  }
  return nodes;
}

std::vector<CpuPlace> cpu_places(const CpuSet& cpus, const std::string& root) {
  const auto nodes = numa_nodes(root);
  std::map<int, int> seen;  // hardware threads of a core so far
  std::vector<CpuPlace> places;
  for (const int cpu : cpus) {
    const auto folder = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    CpuPlace place{.cpu = cpu,
                   .package = integer_in(folder + "physical_package_id"),
                   .core = core_of(folder, cpu)};
    for (const NumaNode& node : nodes) {
      if (std::binary_search(node.cpus.begin(), node.cpus.end(), cpu)) place.numa = node.number;
    }
    place.sibling = seen[place.core]++;
    places.push_back(place);
  }
  return places;
}

const NumaCalls& numa_calls() {
  static const SystemCalls calls;
  return calls;
}

}  // namespace mpigauge::platform

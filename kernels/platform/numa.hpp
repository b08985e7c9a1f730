// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Where memory lies and where cores sit: what the system says of itself, and the calls that put
// memory on a NUMA node and look where it is. The calls are a class, so that what is built on them
// can be tested with machines that are not at hand.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "platform/platform.hpp"

namespace mpigauge::platform {

/// A NUMA node of which this process may use the memory.
struct NumaNode {
  int number = 0;
  bool has_memory = true;      ///< false: it has cores alone
  std::size_t free_bytes = 0;  ///< that can still be taken, with what only caches files
  CpuSet cpus;
  std::vector<int> distances;  ///< to each node, in the order of their numbers; may be empty
};
/// In the order of their numbers, as files below this folder tell ("" for the system's own).
std::vector<NumaNode> numa_nodes(const std::string& root);

/// Where a processor sits.
struct CpuPlace {
  int cpu = 0;
  int package = 0;
  int numa = 0;
  int core = 0;     ///< the number of the first processor of its core
  int sibling = 0;  ///< which hardware thread of its core
};
/// Of these processors, likewise; what is not told is 0.
std::vector<CpuPlace> cpu_places(const CpuSet& cpus, const std::string& root);

class NumaCalls {
 public:
  virtual ~NumaCalls() = default;
  [[nodiscard]] virtual std::vector<NumaNode> nodes() const = 0;
  /// Memory that nobody has touched yet is to come from these nodes alone, page by page in turn
  /// where they are several. Gives 0, or the number of the error.
  [[nodiscard]] virtual int put(std::byte* at, std::size_t bytes,
                                const std::vector<int>& nodes) const = 0;
  /// The node of each of these pages, negative where a page has none. Gives 0, or the number of the
  /// error.
  [[nodiscard]] virtual int look(std::span<void*> pages, std::span<int> nodes) const = 0;
};
/// Those of the system.
const NumaCalls& numa_calls();

}  // namespace mpigauge::platform

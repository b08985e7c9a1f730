// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The seam between the kernels and the operating system: a file per platform implements it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/clock.hpp"
#include "platform/taint.hpp"

namespace mpigauge::platform {

/// A set of processors as a sorted list of numbers.
using CpuSet = std::vector<int>;

/// Reads "0-3,8"; nothing when the text is no such list.
std::optional<CpuSet> parse_cpuset(const std::string& text);
/// Writes {0,1,2,3,8} as "0-3,8".
std::string format_cpuset(const CpuSet& cpus);

/// Binds the calling thread; false when the system refuses (outside the cpuset, say).
bool bind(const CpuSet& cpus);
/// Where the calling thread may run.
CpuSet allowed_cpus();
int current_cpu() noexcept;
/// NUMA node of a processor; -1 when the system does not tell.
int numa_node(int cpu);

/// Rank among the ranks of this host as the launcher tells it in the environment, before MPI_Init.
std::optional<int> launcher_local_rank();
/// Rank in the whole job, likewise.
std::optional<int> launcher_rank();
/// Ranks of the whole job as the launcher tells it; to notice singletons.
std::optional<int> launcher_size();

std::string host_name();
/// Says which start of which system this is; empty where it does not tell.
std::string boot_id();
int process_id() noexcept;
/// Seconds since this process was started; the system knows that in steps of 10 ms. NaN where it
/// does not tell.
double process_age_s();
/// Seconds that each thread of this process has run so far, by its number; empty where the system
/// does not tell.
std::map<int, double> thread_cpu_s();
void sleep_s(double seconds);
/// UTC as 2026-01-31T12:00:00Z.
std::string utc_now();
bool file_exists(const std::string& path);
/// Bytes that can still be taken without swapping: MemAvailable, cut by the cgroup's limit.
std::size_t available_memory();

/// Anonymous memory of its own mapping: fresh pages at an address that differs each time.
class Mapping {
 public:
  Mapping() = default;
  /// Throws std::bad_alloc when the system has not that much.
  explicit Mapping(std::size_t bytes);
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Of the calling thread, now.
Counted counted() noexcept;

/// Watches the calling thread from mark() to taint(), each of which costs about 0.2 us.
/// Stolen time is looked up at most every 5 ms, by the constructor and by taint(): that takes tens
/// of microseconds, more on large hosts, and must not fall between mark() and what is measured. So
/// the bit may be due to what happened up to 5 ms before.
class TaintProbe {
 public:
  TaintProbe();
  void mark();
  /// Bits of Taint for the time since mark().
  [[nodiscard]] unsigned taint() const;

 private:
  Counted before_;
};

}  // namespace mpigauge::platform

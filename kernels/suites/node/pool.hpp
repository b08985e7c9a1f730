// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Threads of our own, each bound to its cores, that share the work of a rank. Beside them there can
// be any other runtime: they ask for nothing, call no MPI, and sleep when there is nothing to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "platform/numa.hpp"

namespace mpigauge::node {

class Pool {
 public:
  /// A thread on each of these cores; the first is the caller, who sees to its own place. Throws
  /// std::runtime_error where one of them is not where it should be.
  explicit Pool(std::vector<platform::CpuSet> places);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] int threads() const { return static_cast<int>(places_.size()); }
  [[nodiscard]] const std::vector<platform::CpuSet>& places() const { return places_; }

  /// work(0), work(1), ... at once, a thread each; the caller's is work(0). Over when all are.
  template <class Work>
  void run(Work& work) {
    call_ = [](void* at, int thread) { (*static_cast<Work*>(at))(thread); };
    work_ = &work;
    busy_.store(threads() - 1, std::memory_order_relaxed);
    turn_.fetch_add(1, std::memory_order_release);
    turn_.notify_all();
    work(0);
    wait_for_others();
  }

 private:
  void serve(int thread);
  [[nodiscard]] std::uint32_t turn_after(std::uint32_t seen) const;
  void wait_for_others() const;
  void end();

  std::vector<platform::CpuSet> places_;
  void (*call_)(void* work, int thread) = nullptr;
  void* work_ = nullptr;
  bool ending_ = false;
  alignas(64) std::atomic<std::uint32_t> turn_{0};
  alignas(64) std::atomic<int> busy_{0};
  std::atomic<int> misplaced_{0};
  std::vector<std::jthread> others_;
};

/// The cores of thread 0, 1, ... of a rank that may use these: compact, next to each other;
/// scatter, in turn over packages and NUMA nodes; or as named, 0:2+3. Further hardware threads of
/// cores come after all cores. Throws std::invalid_argument.
std::vector<platform::CpuSet> thread_places(const std::string& order,
                                            const std::vector<platform::CpuPlace>& cpus);

}  // namespace mpigauge::node

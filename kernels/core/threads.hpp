// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Benchmarks that every thread of a rank runs at the same time.
#pragma once

#include <functional>

#include "core/option_words.hpp"
#include "core/run.hpp"

namespace mpigauge {

/// The library's constant for what MPI may be called from, and back.
int mpi_constant(ThreadLevel level);
ThreadLevel thread_level_of(int mpi_constant);

/// A core for each of so many threads of a rank that may use `allowed`; empty where these are
/// fewer. Ranks of a host that may all use the same cores begin at different ones.
std::vector<platform::CpuSet> cores_of_threads(const platform::CpuSet& allowed, int threads,
                                               int local_rank);

/// Binds the calling thread as long as it lives; an empty set leaves it where it is. Throws
/// std::runtime_error where the thread is not on these cores then.
class Bound {
 public:
  explicit Bound(const platform::CpuSet& cpus);
  ~Bound();
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  platform::CpuSet before_;
};

/// Runs the benchmark on all threads of this rank at once, each with a communicator, buffers and
/// (where there are enough) a core of its own.
void on_threads(Run& run, const std::function<void(Run&)>& benchmark);

}  // namespace mpigauge

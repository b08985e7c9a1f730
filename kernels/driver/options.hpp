// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The command line of the kernels, read and checked.
#pragma once

#include <string>
#include <vector>

#include "driver/option_fields.hpp"
#include "driver/usage_error.hpp"

namespace mpigauge {

struct Options : OptionFields {
  SyncMethod automatic_sync = SyncMethod::barrier;  ///< what automatic means in this launch
  bool gpus_shared = false;                         ///< ranks share a GPU in this launch
  bool all_on_first_gpu = false;                    ///< that they see, as IMB's programs do
  /// What only some benchmarks use, with all that is measured in turn; empty: `suite` alone.
  std::vector<SuiteOptions> combinations;
};

/// Whether buffers of any case need the driver of a GPU.
bool uses_gpu(const Options& options);
/// Throws UsageError.
Options read_options(const std::vector<std::string>& words);
/// Whether any of the benchmarks makes threads that call MPI.
bool uses_threads(const Options& options);
/// The lowest thread level that the benchmarks can do with.
ThreadLevel needed_thread_level(const Options& options);
/// The thread level that MPI is asked for. Throws UsageError: it is lower than what they need.
ThreadLevel wanted_thread_level(const Options& options);
/// A few lines per option, for --help.
std::string options_help();

}  // namespace mpigauge

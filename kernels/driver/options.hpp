// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The command line of the kernels, read from one table.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/derived.hpp"
#include "core/groups.hpp"
#include "core/knobs.hpp"
#include "core/settings.hpp"
#include "core/sync.hpp"
#include "core/threads.hpp"
#include "platform/platform.hpp"

namespace mpigauge {

/// A word on the command line that makes no sense; the text says which and what would.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Options {
  std::vector<std::string> benchmarks;
  std::vector<int> ranks;
  int npmin = 2;
  Multi multi = Multi::off;
  Grid grid;
  std::optional<Pairing> pairs;  ///< none: ranks measure as the benchmarks have them
  std::optional<std::vector<std::size_t>> sizes;  ///< none: 0, 1, 2, 4 ... 4 MiB
  bool classic = false;
  int repetitions = 1000;
  double precision = 0.05;
  double seconds = 0;
  bool use_all = false;
  std::uint64_t seed = 1;
  int launch = 0;
  std::string datatype;  ///< empty: byte for transfers, float for reductions
  std::string op = "sum";
  Contiguity contiguity = Contiguity::base;
  bool root_shift = false;
  int inflight = 256;
  bool hot = true;
  bool cold = false;
  std::size_t cache_bytes = std::size_t{64} << 20U;
  SyncMethod sync = SyncMethod::barrier;
  SyncMethod automatic_sync = SyncMethod::barrier;  ///< what automatic means in this launch
  /// Cells that are started by the clock, as another launch found: SUITE:NAME/RANKS/BYTES. None: to
  /// be found.
  std::optional<std::vector<std::string>> by_clock;
  bool static_data = true;
  bool fresh_data = false;
  std::vector<std::string> insist;  ///< refused where they have no fresh data; others stay static
  std::vector<platform::CpuSet> bind;
  std::size_t memory = 0;
  std::string stop_file;
  std::string records = "-";
  std::vector<Arm> arms;                    ///< none: the library as it is
  std::optional<ThreadLevel> thread_level;  ///< none: the lowest that will do
  Settings settings;
  std::vector<int> threads;  ///< of a rank, each measured; settings.threads is the first of them
  std::vector<std::string> memory_on;      ///< each measured, where benchmarks heed it
  std::vector<std::string> thread_orders;  ///< likewise
  std::vector<std::string> compilers;      ///< likewise; an empty one is ours
  std::vector<Settings> ways;  ///< the settings, with each of these in turn; at least one
};

/// Throws UsageError.
Options read_options(const std::vector<std::string>& words);
/// Makes the ways out of what is to be measured in turn.
void make_ways(Options& options);
/// Whether any of the benchmarks makes threads that call MPI.
bool uses_threads(const Options& options);
/// The lowest thread level that the benchmarks can do with.
ThreadLevel needed_thread_level(const Options& options);
/// The thread level that MPI is asked for. Throws UsageError: it is lower than what they need.
ThreadLevel wanted_thread_level(const Options& options);
/// One line per option, for --help.
std::string options_help();

}  // namespace mpigauge

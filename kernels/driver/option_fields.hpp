// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
// Made by tools/generate.py from schema/options.toml: change that file, not this one.
// clang-format off
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/detours.hpp"
#include "core/groups.hpp"
#include "core/knobs.hpp"
#include "core/memory_kinds.hpp"
#include "core/pairs.hpp"
#include "core/suite_options.hpp"
#include "core/sync.hpp"
#include "platform/platform.hpp"

namespace mpigauge {

/// What can be said to the kernels; what only some benchmarks use is in `suite`.
struct OptionFields {
  /// Names of the benchmarks, with commas between.
  std::vector<std::string> benchmarks;
  /// Numbers of ranks of a group.
  std::vector<int> ranks;
  /// Smallest group.
  int npmin = 2;
  /// Groups of 2 ranks that measure side by side: all, each (one at a time), ring, or 0-1,2-3;0-2.
  std::optional<Pairing> pairs;
  /// Groups side by side.
  Multi multi = Multi::off;
  /// Order of ranks as a transposed grid: PxQ.
  Grid grid;
  /// Message sizes in bytes.
  std::optional<std::vector<std::size_t>> sizes;
  /// The schedule of measuring.
  bool classic = false;
  /// Of a row at most, in the classic schedule.
  int repetitions = 1000;
  /// Relative error that is wanted.
  double precision = 0.05;
  /// Measuring time of this launch; 0: no bound.
  double seconds = 0;
  /// Seconds that a cell may take in this launch; 0: no bound.
  double cell_seconds = 10;
  /// Spend all these seconds.
  bool use_all = false;
  /// Seed of all random orders.
  std::uint64_t seed = 1;
  /// Number of this launch.
  int launch = 0;
  /// MPI data type of messages.
  std::string datatype;
  /// Operation of reductions.
  std::string op = "sum";
  /// The root moves by one rank at each call.
  bool root_shift = false;
  /// Messages before a wait.
  int inflight = 256;
  /// Whether buffers are in the cache.
  Cache cache = Cache::hot;
  /// What cold buffers have to exceed.
  std::size_t cache_bytes = 67108864;
  /// How ranks start a timed call together.
  SyncMethod sync = SyncMethod::barrier;
  /// Cells that --sync auto starts by the clock, as another launch found: SUITE:NAME/RANKS/BYTES,
  /// or none.
  std::optional<std::vector<std::string>> by_clock;
  /// What is in the send buffer.
  Data data = Data::unchanged;
  /// Benchmarks that are refused, with a reason, where they have no fresh data; others stay static.
  std::vector<std::string> insist;
  /// Cores of local rank 0, 1, … as 0,4 or 0-3,4+5.
  std::vector<platform::CpuSet> bind;
  /// Bytes of buffers per rank at most; 0: of what is free.
  std::size_t memory_limit = 0;
  /// Memory of the buffers, each kind measured: host, pinned, device, managed; or A:B, A on rank 0
  /// and B on rank 1 of a pair.
  std::vector<Memories> memories;
  /// Benchmarks that are not measured in a memory, as trials found, with the reasons:
  /// BENCHMARK~MEMORY~REASON|…
  std::vector<LeftOut> left_out;
  /// Bus address of the GPU of local rank 0, 1, …; without it: local rank modulo the number of
  /// GPUs.
  std::vector<std::string> gpus;
  /// The library of the CUDA driver.
  std::string cuda = "libcuda.so.1";
  /// The library of NCCL (suite NCCL).
  std::string nccl = "libnccl.so.2";
  /// Settings of the MPI to measure in turn, through MPI_T: ~|A=1~A=1|again~
  std::vector<Arm> arms;
  /// Noise of the cores as an earlier launch sampled it: SECONDS:LOST_SECONDS:LENGTH*TIMES,...;
  /// this launch then samples none.
  std::optional<Detours> detours;
  /// A file; when it appears, sampling ends.
  std::string stop_file;
  /// File for records; - for standard output.
  std::string records = "-";
  SuiteOptions suite;
  /// Threads of each rank (MT, HALO, NODE); for NODE several, as 1..8, or omp: OMP_NUM_THREADS.
  /// Each is measured.
  std::vector<int> threads;
  /// Cores of threads (NODE): compact, scatter, or omp, OMP_PLACES. Each is measured.
  std::vector<std::string> thread_order;
  /// NUMA nodes of the arrays (NODE), each measured: local, remote, interleaved, 1, 0+1, all. Each
  /// is measured.
  std::vector<std::string> memory_on;
  /// When ranks come to a blocking collective, each beside all at once: late:RANK:TIME,
  /// uniform:TIME, sorted:TIME, profile:RUN. Each is measured.
  std::vector<Arrival> arrival;
  /// Simple loops of NODE as compilers made them: ours, or NAME=FILE. Each is measured.
  std::vector<std::string> compiler;
};

/// The most that --inflight takes.
inline constexpr int most_inflight = 1000000;

}  // namespace mpigauge

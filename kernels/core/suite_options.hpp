// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
// Made by tools/generate.py from schema/options.toml: change that file, not this one.
// clang-format off
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/arrival.hpp"
#include "core/mix.hpp"
#include "core/option_text.hpp"
#include "core/option_words.hpp"

namespace mpigauge {

/// What a user can set that only some benchmarks use; the same for all of a launch.
struct SuiteOptions {
  /// Elements of a message: as they are, as one of a vector type, with room between.
  Contiguity contiguity = Contiguity::base;
  /// Folders for MPI-IO, each measured.
  std::vector<std::string> directories = {"."};
  /// The page cache under MPI-IO: as it is, dropped before reading, gone around.
  IoCache io_cache = IoCache::keep;
  /// Threads of each rank (MT, HALO, NODE); for NODE several, as 1..8, or omp: OMP_NUM_THREADS.
  int threads = 1;
  /// Cores of threads (NODE): compact, scatter, or omp, OMP_PLACES.
  std::string thread_order;
  /// NUMA nodes of the arrays (NODE), each measured: local, remote, interleaved, 1, 0+1, all.
  std::string memory_on;
  /// Thread levels at which MPI is initialised: single, funneled, serialized, multiple.
  std::optional<ThreadLevel> thread_level;
  /// Who takes threads' buffers (MT).
  ThreadMemory thread_memory = ThreadMemory::parallel;
  /// Between the ranks of a pair (MT).
  int stride = 0;
  /// Write to the send buffer before each call (P2P), unless it is on a GPU.
  bool touch_send = true;
  /// Read the receive buffer after each call (P2P), unless it is on a GPU.
  bool touch_recv = true;
  /// Grid of ranks (HALO).
  std::vector<int> topo;
  /// When ranks come to a blocking collective, each beside all at once: late:RANK:TIME,
  /// uniform:TIME, sorted:TIME, profile:RUN.
  Arrival arrival;
  /// A profile to be replayed: a run of `mpigauge profile` (REPLAY).
  Mix profile;
  /// The root of collectives that have one: a rank of their group.
  int root = 0;
  /// Ranks that algorithms with leaders take for a node (ALG).
  int group_ranks = 0;
  /// Parts of a partitioned message.
  int partitions = 4;
  /// Library for products of matrices: NAME=FILE.
  std::string blas;
  /// Simple loops of NODE as compilers made them: ours, or NAME=FILE.
  std::string compiler;
  /// Computation between calls of MPI_Test.
  double test_every_us = 2;
  /// Ranks of each host, which follow each other (FABRIC).
  int host_ranks = 1;
  /// Order of the hosts, of which the first half exchanges with the second
  /// (FABRIC:Bisection_groups).
  std::vector<int> host_order;
  /// Hosts that disturb others, in percent (FABRIC).
  int aggressors = 50;
  /// Of threads' buffers in one piece.
  std::size_t align = 64;
  /// Seed of P2P's random pairs.
  std::uint64_t pairing = 1;
};
inline const SuiteOptions usual_suite_options{};

/// Cards name those that a benchmark uses.
enum class SuiteOption {
  layout,
  dir,
  io_cache,
  threads,
  thread_order,
  memory_on,
  thread_level,
  thread_memory,
  stride,
  touch_send,
  touch_recv,
  topo,
  arrival,
  profile,
  root,
  group_ranks,
  partitions,
  blas,
  compiler,
  test_every,
  host_ranks,
  host_order,
  aggressors,
};

/// In the order of SuiteOption.
inline constexpr std::array<SuiteOptionRow, 23> suite_option_rows{{
    {"layout", text_of<&SuiteOptions::contiguity>, true, false},
    {"dir", text_of<&SuiteOptions::directories>, true, false},
    {"io-cache", text_of<&SuiteOptions::io_cache>, false, false},
    {"threads", text_of<&SuiteOptions::threads>, true, false},
    {"thread-order", text_of<&SuiteOptions::thread_order>, false, false},
    {"memory-on", text_of<&SuiteOptions::memory_on>, false, false},
    {"thread-level", text_of<&SuiteOptions::thread_level>, true, true},
    {"thread-memory", text_of<&SuiteOptions::thread_memory>, false, false},
    {"stride", text_of<&SuiteOptions::stride>, false, false},
    {"touch-send", text_of<&SuiteOptions::touch_send>, false, false},
    {"touch-recv", text_of<&SuiteOptions::touch_recv>, false, false},
    {"topo", text_of<&SuiteOptions::topo>, false, false},
    {"arrival", text_of<&SuiteOptions::arrival>, true, false},
    {"profile", text_of<&SuiteOptions::profile>, false, false},
    {"root", text_of<&SuiteOptions::root>, false, false},
    {"group-ranks", text_of<&SuiteOptions::group_ranks>, false, false},
    {"partitions", text_of<&SuiteOptions::partitions>, false, false},
    {"blas", text_of<&SuiteOptions::blas>, false, false},
    {"compiler", text_of<&SuiteOptions::compiler>, false, false},
    {"test-every", text_of<&SuiteOptions::test_every_us>, false, false},
    {"host-ranks", text_of<&SuiteOptions::host_ranks>, false, false},
    {"host-order", text_of<&SuiteOptions::host_order>, false, false},
    {"aggressors", text_of<&SuiteOptions::aggressors>, false, false},
}};

}  // namespace mpigauge

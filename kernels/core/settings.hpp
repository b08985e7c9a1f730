// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a user can set that only some suites look at; the same for all cases of a launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mpigauge {

/// Where threads have their buffers: each takes its own, the first takes one for each, or all have
/// a part of one piece.
enum class ThreadMemory { parallel, serial, continuous };

/// What benchmarks on files do about the page cache of the operating system.
enum class IoCache {
  keep,    ///< nothing, as IMB: what was just written is read from memory
  drop,    ///< files that are read were written by another rank, and are dropped from the cache
  direct,  ///< ROMIO is asked to go around it (hints direct_read, direct_write)
};

struct Settings {
  std::vector<std::string> directories{"."};  ///< where benchmarks on files have them, each a case
  IoCache io_cache = IoCache::keep;
  int threads = 1;  ///< of a rank, for benchmarks with threads
  ThreadMemory thread_memory = ThreadMemory::parallel;
  std::size_t align = 64;      ///< of threads' buffers in one piece
  int stride = 0;              ///< between the ranks of a pair in MT; 0: half of the ranks
  bool touch_send = true;      ///< P2P writes a byte in each line of what it sends...
  bool touch_recv = true;      ///< ...and reads one in each line of what it has received
  std::uint64_t pairing = 1;   ///< seed of P2P's random pairs
  std::vector<int> topo;       ///< sides of HALO's grid; empty: as even as the ranks allow
  double test_every_us = 2.0;  ///< of a computation that makes progress by calling MPI_Test
  int partitions = 4;          ///< of a partitioned message
  std::string memory_on;       ///< NUMA nodes of NODE's arrays; empty: as the system puts them
  std::string thread_order;    ///< of NODE's threads on the cores of their rank; empty: compact
  std::string blas;            ///< NAME=FILE, of products of matrices; empty: there is none
  std::string compiler;        ///< NAME=FILE, simple loops of another compiler; empty: ours
};
inline const Settings default_settings{};

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
// Made by tools/generate.py from schema/options.toml: change that file, not this one.
// clang-format off
#pragma once

#include <array>

#include "core/words.hpp"

namespace mpigauge {

/// Elements of a message: as they are, as one of a vector type, with room between.
enum class Contiguity {
  /// elements of a basic type, one behind the other
  base,
  /// one element of a vector type of them
  base_vec,
  /// elements with as much room behind each
  resize,
  /// one element of a vector type of those
  resize_vec,
};
template <>
inline constexpr auto option_words<Contiguity> =
    std::array<Word<Contiguity>, 4>{{{"base", Contiguity::base}, {"base_vec", Contiguity::base_vec}, {"resize", Contiguity::resize}, {"resize_vec", Contiguity::resize_vec}}};

/// The page cache under MPI-IO: as it is, dropped before reading, gone around.
enum class IoCache {
  /// as IMB: what was just written is read from memory
  keep,
  /// files that are read were written by another rank, and are dropped from the cache
  drop,
  /// ROMIO is asked to go around it (hints direct_read, direct_write)
  direct,
};
template <>
inline constexpr auto option_words<IoCache> =
    std::array<Word<IoCache>, 3>{{{"keep", IoCache::keep}, {"drop", IoCache::drop}, {"direct", IoCache::direct}}};

/// Thread levels at which MPI is initialised: single, funneled, serialized, multiple.
enum class ThreadLevel {
  /// MPI_THREAD_SINGLE
  single,
  /// MPI_THREAD_FUNNELED
  funneled,
  /// MPI_THREAD_SERIALIZED
  serialized,
  /// MPI_THREAD_MULTIPLE
  multiple,
};
template <>
inline constexpr auto option_words<ThreadLevel> =
    std::array<Word<ThreadLevel>, 4>{{{"single", ThreadLevel::single}, {"funneled", ThreadLevel::funneled}, {"serialized", ThreadLevel::serialized}, {"multiple", ThreadLevel::multiple}}};

/// Who takes threads' buffers (MT).
enum class ThreadMemory {
  /// each thread its own
  parallel,
  /// the first, one for each
  serial,
  /// the first, one piece of which all have a part
  continuous,
};
template <>
inline constexpr auto option_words<ThreadMemory> =
    std::array<Word<ThreadMemory>, 3>{{{"parallel", ThreadMemory::parallel}, {"serial", ThreadMemory::serial}, {"continuous", ThreadMemory::continuous}}};

/// Whether buffers are in the cache.
enum class Cache {
  /// the same buffers at every call
  hot,
  /// buffers rotate through more memory than the caches hold
  cold,
  /// one after the other
  both,
};
template <>
inline constexpr auto option_words<Cache> =
    std::array<Word<Cache>, 3>{{{"hot", Cache::hot}, {"cold", Cache::cold}, {"both", Cache::both}}};

/// What is in the send buffer.
enum class Data {
  /// it is written once
  unchanged,
  /// it is written before each call
  fresh,
  /// one after the other
  both,
};
template <>
inline constexpr auto option_words<Data> =
    std::array<Word<Data>, 3>{{{"static", Data::unchanged}, {"fresh", Data::fresh}, {"both", Data::both}}};

}  // namespace mpigauge

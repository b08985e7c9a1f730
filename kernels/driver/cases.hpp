// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// From options to cases: which benchmark runs at which sizes on how many ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/registry.hpp"
#include "core/run.hpp"
#include "driver/options.hpp"
#include "record/json.hpp"

namespace mpigauge {

/// A case and the benchmark that runs it.
struct Job {
  const Benchmark* benchmark = nullptr;
  Case row;
  std::size_t arm = 0;                 ///< in Options::arms
  std::uint32_t arms_of = 0;           ///< not 0: a number that all arms of this case share
  SyncMethod sync = SyncMethod::none;  ///< how ranks meet before the timed calls
};

/// Sizes of a benchmark: rounded up to whole elements, each once, in the order given.
std::vector<std::size_t> sizes_of(const Card& card, const DataType& type, const Options& options);
/// Numbers of ranks on which a benchmark runs, in the order given.
std::vector<int> ranks_of(const Card& card, const Options& options, int world_ranks);
/// All rows of one benchmark on so many ranks, in the order of sizes, hot before cold, static
/// before fresh.
std::vector<Job> jobs_of(const Benchmark& benchmark, int ranks, const Options& options);

/// What keeps a case from being run.
enum class Limit { ranks, call, overflow, memory, time };
struct Refusal {
  Limit limit = Limit::memory;
  double needed_bytes = 0.0;  ///< memory: that a rank needs
  std::string reason;         ///< a sentence for records
};

/// Why a case cannot run here where a rank may take so many bytes; nothing when it can.
std::optional<Refusal> refusal_of(const Case& row, double memory);

/// Lets all ranks of the job do together what the benchmark wants of them before its first cell.
void prepare_world(const Card& card);

/// The columns that say which cell a record is about.
Object key_of(const Job& job, const Options& options, const Whose& whose);
/// The columns from which bandwidth and rate are derived.
Object facts_of(const Job& job);
/// How ranks meet before the timed calls of a case.
SyncMethod sync_of(const Card& card, Completion completion, const Options& options);

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What can be set for the programs that share IMB's engine (MPI1, EXT, IO, NBC, RMA, MPI4), and
// what follows from it: benchmarks, sizes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/registry.hpp"
#include "driver/options.hpp"
#include "driver/schedule.hpp"
#include "imb/grammar.hpp"
#include "imb/program.hpp"

namespace mpigauge::imb {

/// What is not the same in all of these programs.
struct Dialect {
  bool io = false;                  ///< "io portions" instead of messages
  bool blank_after_words = false;   ///< at the end of the calling sequence
  bool blank_after_type = false;    ///< at the end of the reductions' type
  bool blank_rules = false;         ///< in the two empty comments before the list
  bool units_of_reduction = false;  ///< all sizes are multiples of the reductions' type
  bool ignores_least = false;       ///< sizes start at the smallest whatever -msglog says
};
Dialect dialect_of(const Program& program);

/// Completions to be shown.
enum class Aggregate { both, only_end, only_each };

struct EngineSettings {
  Options options;
  Schedule schedule;
  bool lenient = false;
  bool list = false;
  Words named;  ///< benchmarks of -input, then those on the command line
  Words included, excluded;
  int least_log = 0, most_log = 22;
  bool memory_given = false;
  std::optional<std::vector<std::size_t>> sizes;
  std::optional<std::string> lengths_file;
  bool zero_size = true;
  std::string data_type = "byte";
  std::string reduction_type = "float";
  Aggregate aggregate = Aggregate::both;
  Words remarks;  ///< lenient: what to say on standard output before the tables
};

using EngineOptions = std::vector<OptionRow<EngineSettings>>;
/// The options of one of the programs.
EngineOptions engine_options(const Program& program);

/// Reads and checks the command line; throws UsageError.
EngineSettings read_engine_settings(const Program& program, const Words& words);

/// What is to run: benchmarks in their order, and names that are none (lenient only).
struct Selection {
  std::vector<const Benchmark*> benchmarks;
  Words unknown;
};
/// Throws UsageError where a name is none and the settings are not lenient.
Selection select(const Program& program, const EngineSettings& settings);

/// Sizes of a benchmark in the order of its rows.
std::vector<std::size_t> sizes_for(const Program& program, const Card& card,
                                   const EngineSettings& settings);

/// Its benchmarks by name with marks for those that run only when named.
std::string list_text(const Program& program);
std::string help_text(const Program& program, std::string_view option);

}  // namespace mpigauge::imb

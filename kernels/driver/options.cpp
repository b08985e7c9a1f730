// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/options.hpp"

#include <algorithm>

#include "core/types.hpp"
#include "driver/names.hpp"
#include "driver/option_table.hpp"

namespace mpigauge {

namespace {

// Elsewhere benchmarks make types of their own, or count in bytes.
void check_layout(const Options& o, const Card& card) {
  const bool has_layouts = card.options.has(SuiteOption::layout) || card.unit == Unit::none;
  if (o.suite.contiguity == Contiguity::base || has_layouts) return;
  throw UsageError("--layout has no effect on " + std::string(card.suite) + ':' +
                   std::string(card.name));
}

// What says how ranks are grouped cannot be said twice.
void check_groups(const Options& o) {
  if (o.pairs && (o.multi != Multi::off || !o.ranks.empty())) {
    throw UsageError("--pairs says how ranks are grouped: --multi and --ranks cannot, too");
  }
}

void check(const Options& o) {
  check_groups(o);
  if (o.classic && !o.arms.empty()) {
    throw UsageError("--arms are measured in turn, which the classic schedule does not do");
  }
  if (o.classic && o.data != Data::unchanged) {
    throw UsageError("--data: the classic schedule is IMB's, which never writes its send buffer");
  }
  if (o.classic && !o.suite.arrival.is_together()) {
    throw UsageError("--arrival: the classic schedule is IMB's, in which ranks come together");
  }
  if (o.root_shift && o.suite.root > 0) {
    throw UsageError("--root: with --root-shift every rank is the root in turn");
  }
  if (o.benchmarks.empty()) throw UsageError("--benchmarks is missing");
  for (const auto& name : o.benchmarks) {
    const Card& card = find_benchmark(name)->card;
    check_layout(o, card);
    if (is_threaded(card) && o.threads.size() > 1) {
      throw UsageError("--threads: " + std::string(card.name) + " takes one number of threads");
    }
    if (card.unit != Unit::reduction) continue;
    const auto* type = find_type(o.datatype.empty() ? "float" : o.datatype);
    if (!has_op(*type, o.op)) {
      throw UsageError("data type " + std::string(type->name) + " has no operation " + o.op);
    }
  }
}

bool any_of_them(const Options& o, bool (*is_so)(const Card&)) {
  return std::any_of(o.benchmarks.begin(), o.benchmarks.end(),
                     [&](const auto& name) { return is_so(find_benchmark(name)->card); });
}

const OptionRow& row_of(const std::string& word) {
  const auto& rows = option_table();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionRow& r) {
    return word == "--" + std::string(r.name);
  });
  if (row == rows.end()) throw UsageError("there is no option " + word);
  return *row;
}

}  // namespace

bool uses_gpu(const Options& o) {
  if (any_of_them(o, [](const Card& card) { return card.by_gpu_library; })) return true;
  return std::any_of(o.memories.begin(), o.memories.end(),
                     [](const Memories& each) { return each.needs_driver(); });
}

bool uses_threads(const Options& o) { return o.suite.threads > 1 && any_of_them(o, is_threaded); }

ThreadLevel needed_thread_level(const Options& o) {
  if (uses_threads(o)) return ThreadLevel::multiple;
  const bool beside_mpi = !o.threads.empty() && any_of_them(o, is_pooled);
  return beside_mpi ? ThreadLevel::funneled : ThreadLevel::single;
}

ThreadLevel wanted_thread_level(const Options& o) {
  const ThreadLevel needed = needed_thread_level(o);
  const ThreadLevel wanted = o.suite.thread_level.value_or(needed);
  if (wanted < needed) {
    throw UsageError("--threads " + std::to_string(o.suite.threads) + " needs --thread-level " +
                     std::string(word(needed)));
  }
  return wanted;
}

Options read_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const OptionRow& row = row_of(words[i]);
    if (i + 1 == words.size()) throw UsageError(words[i] + " needs a value");
    try {
      row.set(options, words[i + 1]);
    } catch (const UsageError& error) {
      throw UsageError(words[i] + ": " + error.what());
    }
  }
  check(options);
  if (options.pairs) options.multi = Multi::apart;
  options.suite.pairing = options.seed;
  options.combinations = combinations_of(options);
  static_cast<void>(wanted_thread_level(options));  // says what does not go together
  return options;
}

std::string options_help() {
  std::string text =
      "usage: mpigauge-kernel --libmpi FILE --plugin FILE --benchmarks A,B [--name value ...]\n";
  for (const auto& row : option_table()) {
    text.append("  --").append(row.name).append("\n      ").append(row.help).append("\n");
  }
  return text;
}

}  // namespace mpigauge

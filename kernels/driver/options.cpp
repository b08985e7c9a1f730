// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "core/registry.hpp"
#include "core/types.hpp"

namespace mpigauge {

namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (auto end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

template <class Number>
Number number(std::string_view text, Number least, Number most) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    throw UsageError("'" + std::string(text) + "' is not a number");
  }
  if (!(value >= least && value <= most)) {  // also what is not a number
    throw UsageError("'" + std::string(text) + "' is out of range");
  }
  return value;
}

bool flag(std::string_view text) { return number<int>(text, 0, 1) == 1; }
constexpr int most_int = std::numeric_limits<int>::max();
constexpr std::size_t most_bytes = std::size_t{1} << 47U;
constexpr int most_inflight = 1'000'000;
constexpr int most_threads = 4096;

// The value for a word of a fixed list.
template <class Value, std::size_t n>
Value choice(std::string_view text,
             const std::array<std::pair<std::string_view, Value>, n>& words) {
  std::string valid;
  for (const auto& [word, value] : words) {
    if (word == text) return value;
    valid += (valid.empty() ? "" : ", ") + std::string(word);
  }
  throw UsageError("'" + std::string(text) + "' is none of " + valid);
}

Grid grid_of(std::string_view text) {
  const auto sides = split(text, 'x');
  if (sides.size() != 2) throw UsageError("'" + std::string(text) + "' is not of the form PxQ");
  return {number<int>(sides[0], 1, most_int), number<int>(sides[1], 1, most_int)};
}

std::vector<int> sides_of(std::string_view text) {
  std::vector<int> sides;
  for (const auto& side : split(text, 'x')) sides.push_back(number<int>(side, 1, most_int));
  return sides;
}

ThreadLevel thread_level(std::string_view text) {
  return choice(text, std::array<std::pair<std::string_view, ThreadLevel>, 4>{
                          {{"single", ThreadLevel::single},
                           {"funneled", ThreadLevel::funneled},
                           {"serialized", ThreadLevel::serialized},
                           {"multiple", ThreadLevel::multiple}}});
}

ThreadMemory thread_memory(std::string_view text) {
  return choice(text, std::array<std::pair<std::string_view, ThreadMemory>, 3>{
                          {{"parallel", ThreadMemory::parallel},
                           {"serial", ThreadMemory::serial},
                           {"continuous", ThreadMemory::continuous}}});
}

std::vector<platform::CpuSet> cpusets_of(const std::string& text) {
  std::vector<platform::CpuSet> sets;
  for (auto& entry : split(text, ',')) {
    std::replace(entry.begin(), entry.end(), '+', ',');
    const auto cpus = platform::parse_cpuset(entry);
    if (!cpus || cpus->empty()) throw UsageError("'" + entry + "' is no list of cores");
    sets.push_back(*cpus);
  }
  return sets;
}

// What another part of the kernels reads.
template <class Value>
Value understood(Value (*read)(const std::string&), const std::string& text) {
  try {
    return read(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

std::string why_not_found(const std::string& name) {
  std::string suites;
  for (const auto& b : benchmarks()) {
    if (!same_name(b.card.name, name)) continue;
    suites +=
        (suites.empty() ? "" : ", ") + std::string(b.card.suite) + ':' + std::string(b.card.name);
  }
  if (suites.empty()) return "no benchmark is called '" + name + "'";
  return "'" + name + "' can be " + suites;
}

std::vector<std::string> benchmarks_of(const std::string& text) {
  auto names = split(text, ',');
  for (const auto& name : names) {
    if (find_benchmark(name) == nullptr) throw UsageError(why_not_found(name));
  }
  return names;
}

std::string type_of(const std::string& name) {
  if (!name.empty() && find_type(name) == nullptr) {
    throw UsageError("no data type is called '" + name + "'");
  }
  return name;
}

std::string op_of(const std::string& name) {
  if (find_op(name) == nullptr) throw UsageError("no operation is called '" + name + "'");
  return name;
}

template <class Number>
std::vector<Number> numbers(const std::string& text, Number least, Number most) {
  if (text.empty()) return {number<Number>(text, least, most)};  // says that this is none
  std::vector<Number> values;
  for (const auto& part : split(text, ',')) values.push_back(number<Number>(part, least, most));
  return values;
}

Contiguity contiguity_of(const std::string& text) {
  return choice(text, std::array<std::pair<std::string_view, Contiguity>, 4>{
                          {{"base", Contiguity::base},
                           {"base_vec", Contiguity::vector},
                           {"resize", Contiguity::spread},
                           {"resize_vec", Contiguity::spread_vector}}});
}

void set_cache(Options& o, const std::string& v) {
  const std::array<std::pair<std::string_view, unsigned>, 3> words{
      {{"hot", 1U}, {"cold", 2U}, {"both", 3U}}};
  const unsigned modes = choice(v, words);
  o.hot = (modes & 1U) != 0;
  o.cold = (modes & 2U) != 0;
}

void set_data(Options& o, const std::string& v) {
  const std::array<std::pair<std::string_view, unsigned>, 3> words{
      {{"static", 1U}, {"fresh", 2U}, {"both", 3U}}};
  const unsigned modes = choice(v, words);
  o.static_data = (modes & 1U) != 0;
  o.fresh_data = (modes & 2U) != 0;
}

std::vector<std::string> directories_of(const std::string& text) {
  auto names = split(text, ',');
  if (names.empty()) throw UsageError("no directory is named");
  for (const auto& name : names) {
    if (name.empty()) throw UsageError("a directory has no name in '" + text + "'");
    if (std::count(names.begin(), names.end(), name) > 1) {
      throw UsageError("directory '" + name + "' is named twice");
    }
  }
  return names;
}

std::vector<std::string> words_in(const std::string& text) {
  auto words = split(text, ',');
  const bool empty = std::find(words.begin(), words.end(), "") != words.end();
  if (words.empty() || empty) throw UsageError("a word is missing in '" + text + "'");
  return words;
}

std::string named_file(const std::string& text) {
  const auto at = text.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == text.size()) {
    throw UsageError("'" + text + "' is not of the form NAME=FILE");
  }
  return text;
}

std::vector<std::string> compilers_of(const std::string& text) {
  auto compilers = words_in(text);
  for (auto& each : compilers) each = each == "ours" ? "" : named_file(each);
  return compilers;
}

void set_io_cache(Options& o, const std::string& v) {
  o.settings.io_cache = choice(
      v, std::array<std::pair<std::string_view, IoCache>, 3>{
             {{"keep", IoCache::keep}, {"drop", IoCache::drop}, {"direct", IoCache::direct}}});
}

struct Row {
  std::string_view name;
  std::string_view help;
  std::function<void(Options&, const std::string&)> set;
};

const std::vector<Row>& table() {
  using Text = const std::string&;
  static const std::vector<Row> rows{
      {"benchmarks", "names, with commas",
       [](Options& o, Text v) { o.benchmarks = benchmarks_of(v); }},
      {"ranks", "numbers of ranks of a group",
       [](Options& o, Text v) { o.ranks = numbers<int>(v, 1, most_int); }},
      {"npmin", "smallest group",
       [](Options& o, Text v) { o.npmin = number<int>(v, 1, most_int); }},
      {"pairs",
       "2 ranks measure, pairs side by side: all, each (one at a time), ring, or 0-1,2-3;0-2",
       [](Options& o, Text v) { o.pairs = understood(parse_pairing, v); }},
      {"multi", "groups side by side: 0 in one row, 1 in a row each",
       [](Options& o, Text v) { o.multi = flag(v) ? Multi::apart : Multi::together; }},
      {"map", "PxQ, order of ranks as a transposed grid",
       [](Options& o, Text v) { o.grid = grid_of(v); }},
      {"sizes", "message sizes in bytes",
       [](Options& o, Text v) { o.sizes = numbers<std::size_t>(v, 0, most_bytes); }},
      {"mode", "adaptive or classic",
       [](Options& o, Text v) {
         o.classic = choice(v, std::array<std::pair<std::string_view, bool>, 2>{
                                   {{"adaptive", false}, {"classic", true}}});
       }},
      {"repetitions", "classic: of a row at most",
       [](Options& o, Text v) { o.repetitions = number<int>(v, 1, most_int); }},
      {"precision", "wanted relative error",
       [](Options& o, Text v) { o.precision = number<double>(v, 1e-6, 10.0); }},
      {"seconds", "measuring time of this launch, 0 without bound",
       [](Options& o, Text v) { o.seconds = number<double>(v, 0.0, 1e9); }},
      {"use-all", "1: spend all the seconds", [](Options& o, Text v) { o.use_all = flag(v); }},
      {"seed", "of all random orders",
       [](Options& o, Text v) {
         o.seed = number<std::uint64_t>(v, 0, std::numeric_limits<std::uint64_t>::max());
       }},
      {"launch", "number of this launch",
       [](Options& o, Text v) { o.launch = number<int>(v, 0, most_int); }},
      {"datatype", "MPI data type", [](Options& o, Text v) { o.datatype = type_of(v); }},
      {"op", "reduction operation", [](Options& o, Text v) { o.op = op_of(v); }},
      {"layout", "of elements: base, base_vec, resize or resize_vec (IMB's -contig_type)",
       [](Options& o, Text v) { o.contiguity = contiguity_of(v); }},
      {"root-shift", "1: the root moves at each call",
       [](Options& o, Text v) { o.root_shift = flag(v); }},
      {"inflight", "messages before a wait",
       [](Options& o, Text v) { o.inflight = number<int>(v, 1, most_inflight); }},
      {"test-every", "microseconds of a computation between calls of MPI_Test",
       [](Options& o, Text v) { o.settings.test_every_us = number<double>(v, 0.01, 1e9); }},
      {"partitions", "parts of a partitioned message",
       [](Options& o, Text v) { o.settings.partitions = number<int>(v, 1, most_inflight); }},
      {"blas", "NAME=FILE, the library for products of matrices",
       [](Options& o, Text v) { o.settings.blas = named_file(v); }},
      {"compiler", "NAME=FILE,... or ours, the simple loops of NODE by compilers, each measured",
       [](Options& o, Text v) { o.compilers = compilers_of(v); }},
      {"dir", "directories for benchmarks on files, each measured",
       [](Options& o, Text v) { o.settings.directories = directories_of(v); }},
      {"io-cache", "page cache in benchmarks on files: keep, drop or direct", set_io_cache},
      {"threads", "of each rank, for benchmarks on threads; several, each measured, for NODE",
       [](Options& o, Text v) {
         o.threads = numbers<int>(v, 1, most_threads);
         o.settings.threads = o.threads.front();
       }},
      {"thread-order", "of NODE's threads, each measured: compact, scatter, or places 0:2+3",
       [](Options& o, Text v) { o.thread_orders = words_in(v); }},
      {"memory-on", "NUMA nodes of arrays, each measured: local, remote, interleaved, 1 or 0+1",
       [](Options& o, Text v) { o.memory_on = words_in(v); }},
      {"thread-level", "that MPI is asked for: single, funneled, serialized, multiple",
       [](Options& o, Text v) { o.thread_level = thread_level(v); }},
      {"thread-memory", "buffers of threads: parallel, serial or continuous",
       [](Options& o, Text v) { o.settings.thread_memory = thread_memory(v); }},
      {"stride", "between the ranks of a pair in MT, 0 for half of the ranks",
       [](Options& o, Text v) { o.settings.stride = number<int>(v, 0, most_int); }},
      {"touch-send", "1: P2P writes to each line of what it sends",
       [](Options& o, Text v) { o.settings.touch_send = flag(v); }},
      {"touch-recv", "1: P2P reads each line of what it receives",
       [](Options& o, Text v) { o.settings.touch_recv = flag(v); }},
      {"topo", "AxBxC, sides of HALO's grid of ranks",
       [](Options& o, Text v) { o.settings.topo = sides_of(v); }},
      {"cache", "hot, cold or both", set_cache},
      {"cache-bytes", "what cold buffers have to exceed",
       [](Options& o, Text v) { o.cache_bytes = number<std::size_t>(v, 1, most_bytes); }},
      {"sync", "auto, barrier, dissemination or clock",
       [](Options& o, Text v) {
         o.sync = choice(v, std::array<std::pair<std::string_view, SyncMethod>, 4>{
                                {{"auto", SyncMethod::automatic},
                                 {"barrier", SyncMethod::barrier},
                                 {"dissemination", SyncMethod::dissemination},
                                 {"clock", SyncMethod::clock}}});
       }},
      {"by-clock", "cells that --sync auto starts by the clock: SUITE:NAME/RANKS/BYTES, or none",
       [](Options& o, Text v) {
         o.by_clock = v == "none" ? std::vector<std::string>() : words_in(v);
       }},
      {"data", "of send buffers: static (written once), fresh (before each call) or both",
       set_data},
      {"insist", "benchmarks that are refused, with a reason, where they have no fresh data",
       [](Options& o, Text v) { o.insist = benchmarks_of(v); }},
      {"bind", "cores of local rank 0, 1, ...", [](Options& o, Text v) { o.bind = cpusets_of(v); }},
      {"memory", "bytes of buffers per rank at most, 0 for what is free",
       [](Options& o, Text v) { o.memory = number<std::size_t>(v, 0, most_bytes); }},
      {"arms", "settings to measure in turn, through MPI_T: ~|A=1~A=1|again~",
       [](Options& o, Text v) { o.arms = understood(read_arms, v); }},
      {"stop-file", "when it appears, sampling ends", [](Options& o, Text v) { o.stop_file = v; }},
      {"records", "file for records, - for standard output",
       [](Options& o, Text v) { o.records = v; }},
  };
  return rows;
}

// Elsewhere benchmarks make types of their own, or count in bytes.
void check_layout(const Options& o, const Card& card) {
  if (o.contiguity == Contiguity::base || card.suite == "MPI1") return;
  throw UsageError("--layout: " + std::string(card.name) + " is of " + std::string(card.suite) +
                   ", only MPI1 has layouts");
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
  if (o.classic && o.fresh_data) {
    throw UsageError("--data: the classic schedule is IMB's, which never writes its send buffer");
  }
  if (o.benchmarks.empty()) throw UsageError("--benchmarks is missing");
  for (const auto& name : o.benchmarks) {
    const Card& card = find_benchmark(name)->card;
    check_layout(o, card);
    if (card.threaded && o.threads.size() > 1) {
      throw UsageError("--threads: " + std::string(card.name) + " takes one number of threads");
    }
    if (card.unit != Unit::reduction) continue;
    const auto* type = find_type(o.datatype.empty() ? "float" : o.datatype);
    if (!has_op(*type, o.op)) {
      throw UsageError("data type " + std::string(type->name) + " has no operation " + o.op);
    }
  }
}

// What runs on threads that call no MPI.
bool uses_pool(const Options& o) {
  const auto pooled = [](const auto& name) { return find_benchmark(name)->card.pooled; };
  return !o.threads.empty() && std::any_of(o.benchmarks.begin(), o.benchmarks.end(), pooled);
}

}  // namespace

bool uses_threads(const Options& o) {
  return o.settings.threads > 1 &&
         std::any_of(o.benchmarks.begin(), o.benchmarks.end(),
                     [](const auto& name) { return find_benchmark(name)->card.threaded; });
}

void make_ways(Options& o) {
  const auto or_usual = [](const auto& wanted, const auto& usual) {
    return wanted.empty() ? std::remove_cvref_t<decltype(wanted)>{usual} : wanted;
  };
  o.ways.clear();
  for (const auto& nodes : or_usual(o.memory_on, o.settings.memory_on)) {
    for (const auto& order : or_usual(o.thread_orders, o.settings.thread_order)) {
      for (const int threads : or_usual(o.threads, o.settings.threads)) {
        for (const auto& compiler : or_usual(o.compilers, o.settings.compiler)) {
          Settings& way = o.ways.emplace_back(o.settings);
          way.memory_on = nodes;
          way.thread_order = order;
          way.threads = threads;
          way.compiler = compiler;
        }
      }
    }
  }
}

ThreadLevel needed_thread_level(const Options& options) {
  if (uses_threads(options)) return ThreadLevel::multiple;
  return uses_pool(options) ? ThreadLevel::funneled : ThreadLevel::single;
}

ThreadLevel wanted_thread_level(const Options& options) {
  const ThreadLevel needed = needed_thread_level(options);
  const ThreadLevel wanted = options.thread_level.value_or(needed);
  if (wanted < needed) {
    throw UsageError("--threads " + std::to_string(options.settings.threads) +
                     " needs --thread-level " + std::string(word(needed)));
  }
  return wanted;
}

Options read_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const auto row = std::find_if(table().begin(), table().end(), [&](const Row& r) {
      return words[i] == "--" + std::string(r.name);
    });
    if (row == table().end()) throw UsageError("there is no option " + words[i]);
    if (i + 1 == words.size()) throw UsageError(words[i] + " needs a value");
    try {
      row->set(options, words[i + 1]);
    } catch (const UsageError& error) {
      throw UsageError(words[i] + ": " + error.what());
    }
  }
  check(options);
  if (options.pairs) options.multi = Multi::apart;
  options.settings.pairing = options.seed;
  make_ways(options);
  static_cast<void>(wanted_thread_level(options));  // says what does not go together
  return options;
}

std::string options_help() {
  std::string text =
      "usage: mpigauge-kernel --libmpi FILE --plugin FILE --benchmarks A,B [--name value ...]\n";
  for (const auto& row : table()) {
    std::string name = "  --" + std::string(row.name);
    name.resize(std::max<std::size_t>(name.size() + 1, 18), ' ');
    text += name + std::string(row.help) + '\n';
  }
  return text;
}

}  // namespace mpigauge

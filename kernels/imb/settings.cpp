// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <utility>

#include "core/types.hpp"
#include "imb/ours.hpp"
#include "platform/platform.hpp"

namespace mpigauge::imb {

namespace {

constexpr std::int64_t most_int = std::numeric_limits<int>::max();
constexpr std::int64_t most_calls = std::numeric_limits<std::uint32_t>::max();
constexpr int most_log_of_imb = 30;
constexpr int most_log = 44;
constexpr double gib = 1U << 30U;
constexpr double mib = 1U << 20U;

constexpr std::array<std::string_view, 7> transfer_types{"byte",   "char",    "int",     "float",
                                                         "double", "float16", "bfloat16"};

// -msglog max or min:max.
void set_range(EngineSettings& s, const Value& v) {
  const auto ends = split(v.text, ':');
  if (ends.size() > 2) throw UsageError("'" + v.text + "' is not of the form [min:]max");
  const auto log = [&](const std::string& text) {
    return static_cast<int>(integer({text, v.lenient}, 0, most_log));
  };
  s.most_log = log(ends.back());
  s.least_log = ends.size() == 2 ? log(ends.front()) : 0;
  if (s.least_log > s.most_log)
    throw UsageError("'" + v.text + "': the minimum exceeds the maximum");
}

// -iter a[,b[,c]]: repetitions, MiB of all, repetitions of rows that complete each call.
void set_repetitions(EngineSettings& s, const Value& v) {
  const auto fields = split(v.text, ',');
  if (fields.size() > 3) throw UsageError("'" + v.text + "' has more than three fields");
  const std::int64_t least = v.lenient ? -most_calls : 1;
  const auto field = [&](std::size_t i, std::int64_t most) {
    return integer({fields[i], v.lenient}, least, most);
  };
  s.schedule.repetitions = field(0, most_calls);
  if (fields.size() > 1) {
    s.schedule.volume_bytes = static_cast<double>(field(1, std::int64_t{1} << 43U)) * mib;
  }
  if (fields.size() > 2) s.schedule.seldom = field(2, most_calls);
}

// -off_cache MiB[,line]; -1 stands for 8 MiB.
void set_cold(EngineSettings& s, const Value& v) {
  constexpr double default_mib = 8;
  const auto fields = split(v.text, ',');
  if (fields.size() > 2) throw UsageError("'" + v.text + "' has more than two fields");
  const double size = fields[0] == "-1" ? default_mib : real({fields[0], v.lenient}, 0, 1e6);
  if (fields.size() == 2) integer({fields[1], v.lenient}, 1, most_int);
  s.options.cache = size > 0 ? Cache::cold : Cache::hot;
  s.options.cache_bytes = static_cast<std::size_t>(size * mib);
}

void set_multi(EngineSettings& s, const Value& v) {
  const std::int64_t mode = integer(v, -1, most_int);
  if (mode < 0) s.options.multi = Multi::off;
  else s.options.multi = mode == 0 ? Multi::together : Multi::apart;
}

void set_map(EngineSettings& s, const Value& v) {
  const auto [rows, columns] = grid(v);
  s.options.grid = {rows, columns};
}

void set_sizes(EngineSettings& s, const std::vector<std::string>& texts, bool lenient) {
  std::vector<std::size_t> sizes;
  for (const auto& text : texts) sizes.push_back(bytes({text, lenient}));
  s.sizes = sizes;
}

void set_policy(EngineSettings& s, const Value& v) {
  const std::vector<Word<Policy>> words{{"dynamic", Policy::dynamic},
                                        {"multiple_np", Policy::multiple_np},
                                        {"auto", Policy::automatic},
                                        {"off", Policy::off}};
  try {
    s.schedule.policy = choice(v, words);
  } catch (const UsageError&) {
    if (!v.lenient) throw;
  }
}

void set_aggregate(EngineSettings& s, const Value& v) {
  const std::vector<Word<Aggregate>> words{{"aggregate", Aggregate::only_end},
                                           {"non_aggregate", Aggregate::only_each},
                                           {"multi", Aggregate::both}};
  try {
    s.aggregate = choice(v, words);
  } catch (const UsageError&) {
    if (!v.lenient) throw;
  }
}

void set_type(EngineSettings& s, const Value& v, std::string EngineSettings::* which,
              bool reduces) {
  std::vector<Word<std::string_view>> words;
  for (const auto name : transfer_types) {
    const DataType* type = find_type(name);
    if (type != nullptr && (!reduces || has_op(*type, "sum"))) words.push_back({name, name});
  }
  try {
    s.*which = std::string(choice(v, words));
  } catch (const UsageError&) {
    if (!v.lenient) throw;
    s.remarks.push_back("Invalid data type " + v.text + ", " + s.*which + " is used");
  }
}

void append(Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); }

void add_common(EngineOptions& t) {
  using S = EngineSettings;
  using V = const Value&;
  t.push_back({"-npmin", "N", "fewest processes of a group",
               [](S& s, V v) { s.options.npmin = static_cast<int>(integer(v, 1, most_int)); }});
  t.push_back({"-multi", "0|1", "groups side by side: 0 in one row, 1 in a row each", set_multi});
  t.push_back({"-map", "PxQ", "order of ranks as in a transposed grid", set_map});
  t.push_back({"-msglog", "[MIN:]MAX", "sizes from 2^MIN to 2^MAX, and 0", set_range});
  t.push_back({"-msglen", "FILE", "sizes, one a line, with k, m or g behind them",
               [](S& s, V v) { s.lengths_file = v.text; }});
  t.push_back({"-msgsize", "A,B,C", "sizes",
               [](S& s, V v) { set_sizes(s, split(v.text, ','), v.lenient); }});
  t.push_back({"-iter", "N[,MIB[,M]]",
               "repetitions, MiB of all in a row, repetitions where each call is completed",
               set_repetitions});
  t.push_back({"-iter_policy", "dynamic|multiple_np|auto|off",
               "how repetitions follow from the size", set_policy});
  t.push_back({"-time", "SECONDS", "of a row at most",
               [](S& s, V v) { s.schedule.row_seconds = real(v, 0, 1e9, "s"); }});
  t.push_back({"-mem", "GB", "of the buffers of a process at most", [](S& s, V v) {
                 s.schedule.memory_bytes = real(v, 1e-9, 1e9, "gb") * gib;
                 s.memory_given = true;
               }});
  t.push_back(
      {"-off_cache", "MIB[,LINE]", "buffers rotate through twice as much memory", set_cold});
  t.push_back({"-input", "FILE", "benchmarks, one a line",
               [](S& s, V v) { append(s.named, lines_of(v.text)); }});
  t.push_back({"-include", "A,B", "benchmarks to run first, beside the others",
               [](S& s, V v) { append(s.included, split(v.text, ',')); }});
  t.push_back({"-exclude", "A,B", "benchmarks not to run",
               [](S& s, V v) { append(s.excluded, split(v.text, ',')); }});
  t.push_back({"-thread_level", "single|funneled|serialized|multiple", "asked of MPI_Init_thread",
               [](S& s, V v) { s.options.suite.thread_level = choice<ThreadLevel>(v); }});
  t.push_back({"-warm_up", "on|off", "untimed calls before each row",
               [](S& s, V v) { s.schedule.warm_up = boolean(v); }});
  t.push_back({"-msg_pause", "on|off", "a pause after each row",
               [](S& s, V v) { s.schedule.pause = boolean(v); }});
  t.push_back({"-imb_barrier", "on|off", "all barriers are our own, not the library's",
               [](S& s, V v) { s.schedule.own_barriers = boolean(v); }});
  t.push_back({"-zero_size", "on|off", "whether size 0 is among the sizes",
               [](S& s, V v) { s.zero_size = boolean(v); }});
  t.push_back({"-lenient", "", "be content with wrong words, as IMB is",
               [](S& s, V) { s.lenient = true; }});
  t.push_back({"-list", "", "say which benchmarks there are", [](S& s, V) { s.list = true; }});
  t.push_back({"-help", "[OPTION]", "say which options there are", [](S&, V) {}});
}

void add_rooted(EngineOptions& t) {
  using S = EngineSettings;
  using V = const Value&;
  t.push_back({"-root_shift", "on|off", "the root moves with each call",
               [](S& s, V v) { s.options.root_shift = boolean(v); }});
  t.push_back({"-sync", "on|off", "processes meet after each call of a collective", [](S& s, V v) {
                 s.options.sync = boolean(v) ? SyncMethod::barrier : SyncMethod::none;
               }});
}

void add_types(EngineOptions& t) {
  using S = EngineSettings;
  using V = const Value&;
  t.push_back({"-window_size", "N", "messages under way in Uniband and Biband", [](S& s, V v) {
                 s.options.inflight = static_cast<int>(integer(v, 1, most_inflight));
               }});
  t.push_back({"-data_type", "TYPE", "byte, char, int, float, double, float16 or bfloat16",
               [](S& s, V v) { set_type(s, v, &S::data_type, false); }});
  t.push_back({"-red_data_type", "TYPE", "the same for reductions",
               [](S& s, V v) { set_type(s, v, &S::reduction_type, true); }});
  t.push_back({"-contig_type", "base|base_vec|resize|resize_vec",
               "elements one behind the other or with room between, or a vector of them",
               [](S& s, V v) { s.options.suite.contiguity = choice<Contiguity>(v); }});
}

// IMB's words: its host memory is pinned, and ordinary memory is that of the CPU.
void add_memory(EngineOptions& t) {
  static const std::vector<Word<Memory>> words{{"device", Memory::device},
                                               {"host", Memory::pinned},
                                               {"shared", Memory::managed},
                                               {"cpu", Memory::host}};
  t.push_back({"-mem_alloc_type", "device|host|shared|cpu",
               "memory of the buffers: of the GPU, pinned, managed, or ordinary memory",
               [](EngineSettings& s, const Value& v) {
                 const Memory memory = choice(v, words);
                 s.options.memories = {{memory, memory}};
               }});
}

void add_modes(EngineOptions& t) {
  t.push_back({"-aggregate_mode", "aggregate|non_aggregate|multi",
               "complete all calls at the end, each one, or show both", set_aggregate});
}

void add_directories(EngineOptions& t) {
  t.push_back({"-dir", "DIR[,DIR]", "where the files are made (and removed), each a table",
               [](EngineSettings& s, const Value& v) {
                 s.options.suite.directories = split(v.text, ',');
               }});
  t.push_back(
      {"-io_cache", "keep|drop|direct",
       "the page cache: as it is, dropped before reading, or gone around where possible",
       [](EngineSettings& s, const Value& v) { s.options.suite.io_cache = choice<IoCache>(v); }});
}

std::vector<std::string_view> names_in(const Program& program) {
  std::vector<std::string_view> names;
  for (const auto& b : benchmarks()) {
    if (b.card.suite == program.suite) names.push_back(b.card.name);
  }
  return names;
}

// A hint where the name is another program's benchmark, or nearly one of this.
std::string hint_for(const Program& program, const std::string& name) {
  std::string like = did_you_mean(name, names_in(program));
  if (!like.empty()) return like;
  for (const auto& other : programs()) {
    if (find_benchmark(other.suite, name) != nullptr) {
      return " (" + std::string(other.name) + " has it)";
    }
  }
  return "";
}

Words split_names(const Words& words) {
  Words names;
  for (const auto& word : words) {
    for (const auto& name : split(word, ',')) {
      if (!name.empty()) names.push_back(name);
    }
  }
  return names;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void check_grid(const EngineSettings& s) {
  const auto size = platform::launcher_size();
  const Grid grid = s.options.grid;
  const std::int64_t places = std::int64_t{grid.rows} * grid.columns;
  if (size && places > *size && grid.rows > 1 && grid.columns > 1) {
    throw UsageError("-map: " + std::to_string(grid.rows) + 'x' + std::to_string(grid.columns) +
                     " has more places than the job has processes, " + std::to_string(*size));
  }
}

void finish_sizes(EngineSettings& s) {
  // IMB ends there; more of it takes memory that nobody has by default.
  if (s.most_log > most_log_of_imb && !s.memory_given) {
    throw UsageError("-msglog: 2^" + std::to_string(s.most_log) +
                     " bytes need more memory than -mem allows by default: give -mem as well, or "
                     "at most 30");
  }
  if (s.lengths_file && !s.sizes) {
    try {
      set_sizes(s, lines_of(*s.lengths_file), s.lenient);
    } catch (const UsageError& error) {
      throw UsageError(std::string("-msglen: ") + error.what());
    }
    if (s.sizes.value_or(std::vector<std::size_t>()).empty()) {
      throw UsageError("-msglen: no size is in '" + *s.lengths_file + "'");
    }
  }
}

void finish_schedule(EngineSettings& s) {
  const double listed = s.sizes ? static_cast<double>(s.sizes->size()) : 0.0;
  const double rows = std::max(std::max(listed, double(s.most_log - s.least_log)) - 1, 1.0);
  s.schedule.table_seconds = rows * s.schedule.row_seconds;
  s.schedule.largest_bytes = std::ldexp(1.0, s.most_log);
  s.schedule.user_sizes = s.sizes.has_value();
  s.schedule.stops_at_limit = true;
  if (!s.memory_given) s.schedule.memory_bytes = gib;
  if (s.schedule.own_barriers && s.options.sync == SyncMethod::barrier) {
    s.options.sync = SyncMethod::dissemination;
  }
}

}  // namespace

Dialect dialect_of(const Program& program) {
  Dialect d;
  d.io = program.suite == "IO";
  d.blank_after_words = program.suite == "MPI1" || program.suite == "RMA";
  d.blank_after_type = program.suite == "MPI1";
  d.blank_rules = d.blank_after_words || program.suite == "MPI4";
  d.units_of_reduction = d.ignores_least = program.suite == "EXT";
  return d;
}

EngineOptions engine_options(const Program& program) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> suites) {
    return std::find(suites.begin(), suites.end(), program.suite) != suites.end();
  };
  EngineOptions table;
  add_common(table);
  if (is_one_of({"MPI1", "NBC", "MPI4", "RMA"})) add_rooted(table);
  if (is_one_of({"MPI1"})) add_types(table);
  if (program.on_gpu && is_one_of({"MPI1"})) add_memory(table);
  if (is_one_of({"EXT", "RMA", "IO"})) add_modes(table);
  if (is_one_of({"IO"})) add_directories(table);
  return with_ours(std::move(table));
}

EngineSettings read_engine_settings(const Program& program, const Words& words) {
  EngineSettings s;
  s.options = plain_options();
  s.options.npmin = program.suite == "IO" ? 1 : 2;
  if (program.on_gpu) {
    s.options.memories = {{Memory::device, Memory::device}};
    s.options.all_on_first_gpu = true;
  }
  append(s.named, read_words(engine_options(program), words, s));
  finish_sizes(s);
  finish_schedule(s);
  check_grid(s);
  for (const auto& directory : s.options.suite.directories) {
    if (directory.empty()) throw UsageError("-dir: a directory has no name");
  }
  return s;
}

Selection select(const Program& program, const EngineSettings& s) {
  Selection selection;
  const auto find = [&](const Words& names) {
    std::vector<const Benchmark*> found;
    for (const auto& name : split_names(names)) {
      const Benchmark* benchmark = find_benchmark(program.suite, name);
      if (benchmark == nullptr && !s.lenient) {
        throw UsageError("no benchmark of " + std::string(program.name) + " is called '" + name +
                         "'" + hint_for(program, name));
      }
      if (benchmark == nullptr) selection.unknown.push_back(lower(name));
      else found.push_back(benchmark);
    }
    return found;
  };
  selection.benchmarks = find(s.included);
  auto named = find(s.named);
  if (named.empty()) {
    for (const auto& b : benchmarks()) {
      if (b.card.suite == program.suite && b.card.by_default) named.push_back(&b);
    }
  }
  selection.benchmarks.insert(selection.benchmarks.end(), named.begin(), named.end());
  for (const Benchmark* excluded : find(s.excluded)) std::erase(selection.benchmarks, excluded);
  if (selection.benchmarks.empty() && !s.lenient) {
    throw UsageError("no benchmark is left to be run");
  }
  return selection;
}

std::vector<std::size_t> sizes_for(const Program& program, const Card& card,
                                   const EngineSettings& s) {
  if (card.unit == Unit::none) return {0};
  if (card.only_bytes > 0) return {card.only_bytes};
  const Dialect dialect = dialect_of(program);
  const bool reduces = card.unit == Unit::reduction || dialect.units_of_reduction;
  const std::size_t unit = find_type(reduces ? s.reduction_type : s.data_type)->bytes;
  const auto whole = [unit](std::size_t n) { return (n + unit - 1) / unit * unit; };
  std::vector<std::size_t> sizes;
  if (s.sizes) {
    for (const std::size_t bytes : *s.sizes) sizes.push_back(whole(bytes));
    return sizes;
  }
  if (s.zero_size) sizes.push_back(0);
  const std::size_t last = (std::size_t{1} << static_cast<unsigned>(s.most_log)) / unit * unit;
  for (int log = dialect.ignores_least ? 0 : s.least_log; log <= s.most_log; ++log) {
    const std::size_t bytes = std::min(whole(std::size_t{1} << static_cast<unsigned>(log)), last);
    if (bytes > 0 && (sizes.empty() || sizes.back() != bytes)) sizes.push_back(bytes);
  }
  return sizes;
}

std::string list_text(const Program& program) {
  std::vector<std::string> lines;
  for (const auto& b : benchmarks()) {
    if (b.card.suite != program.suite) continue;
    lines.push_back("    " + std::string(b.card.name) +
                    (b.card.by_default ? "\n" : " (non-default)\n"));
  }
  std::sort(lines.begin(), lines.end());
  std::string text = "Benchmarks of this program:\n" + std::string(program.name) + ":\n";
  for (const auto& line : lines) text += line;
  return text;
}

std::string help_text(const Program& program, std::string_view option) {
  std::string options = options_text(engine_options(program), option);
  if (!option.empty()) return options;
  return "usage: " + std::string(program.name) + " [-OPTION VALUE ...] [BENCHMARK ...]\n" +
         "The benchmarks (see -list) by name, in any case, with blanks or commas between; without "
         "names those that run by default.\n" +
         options;
}

}  // namespace mpigauge::imb

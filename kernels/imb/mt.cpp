// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// IMB-MT: lengths are counts of elements, each benchmark has one table of all ranks, and what it
// prints as bytes is of all threads of a rank together.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "driver/launch.hpp"
#include "driver/singletons.hpp"
#include "imb/ours.hpp"
#include "imb/rows.hpp"
#include "imb/tables.hpp"
#include "suites/mt/threaded.hpp"

namespace mpigauge::imb {

namespace {

constexpr std::size_t mt_dashes = 77;
constexpr int most_int = std::numeric_limits<int>::max();
constexpr int most_threads = 4096;

struct MtSettings {
  Options options;
  std::vector<std::size_t> counts{1, 2, 4, 8};
  std::int64_t repetitions = 1000;
  std::int64_t warm_up = 100;
  bool check = false;
  bool header = true;
  bool lenient = false;
  Chosen chosen;
};

std::vector<std::size_t> counts_of(const Value& value) {
  std::vector<std::size_t> counts;
  for (const auto& part : split(value.text, ',')) {
    counts.push_back(static_cast<std::size_t>(integer({part, value.lenient}, 0, most_int)));
  }
  return counts;
}

const std::vector<OptionRow<MtSettings>>& mt_options() {
  using S = MtSettings&;
  using V = const Value&;
  static const auto rows = with_ours(with_choice<MtSettings>({
      {"-count", "N,N,...", "elements of a message", [](S s, V v) { s.counts = counts_of(v); }},
      {"-datatype", "int|char", "what the elements are",
       [](S s, V v) {
         s.options.datatype = choice<std::string>(v, {{"int", "int"}, {"char", "char"}});
       }},
      {"-repeat", "N", "timed repetitions",
       [](S s, V v) { s.repetitions = integer(v, 1, most_int); }},
      {"-warmup", "N", "untimed repetitions before them",
       [](S s, V v) { s.warm_up = integer(v, 0, most_int); }},
      {"-stride", "N", "between the ranks of a pair; 0: half of the ranks",
       [](S s, V v) { s.options.suite.stride = static_cast<int>(integer(v, 0, most_int / 2)); }},
      {"-window_size", "N", "messages under way in UniBandMT and BiBandMT",
       [](S s, V v) { s.options.inflight = static_cast<int>(integer(v, 1, most_inflight)); }},
      {"-barrier", "on|off|special", "between calls of collectives; special: our own",
       [](S s, V v) {
         s.options.sync = choice<SyncMethod>(v, {{"on", SyncMethod::barrier},
                                                 {"off", SyncMethod::none},
                                                 {"special", SyncMethod::dissemination}});
       }},
      {"-malloc_algo", "serial|continuous|parallel", "who allocates the threads' buffers",
       [](S s, V v) { s.options.suite.thread_memory = choice<ThreadMemory>(v); }},
      {"-malloc_align", "N", "bytes, of buffers in one piece",
       [](S s, V v) { s.options.suite.align = align_of(v); }},
      {"-check", "on|off", "say where data arrived wrong; they are always checked",
       [](S s, V v) { s.check = boolean(v); }},
      {"-noheader", "", "no banner", [](S s, V) { s.header = false; }},
      {"-thread_level", "single|funneled|serialized|multiple",
       "multiple: OMP_NUM_THREADS threads, or as many as cores",
       [](S s, V v) { s.options.suite.thread_level = choice<ThreadLevel>(v); }},
      {"-lenient", "", "unknown words end the program with status 0", [](S, V) {}},
  }));
  return rows;
}

// As OpenMP would have it.
int threads_wanted() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr || *text == '\0') return static_cast<int>(platform::allowed_cpus().size());
  // A list has a number for each nested level; the first is ours.
  try {
    return static_cast<int>(integer({split(text, ',').front(), false}, 1, most_threads));
  } catch (const UsageError& error) {
    throw UsageError(std::string("OMP_NUM_THREADS: ") + error.what());
  }
}

MtSettings read(const Words& words) {
  MtSettings s;
  s.options = plain_options();
  s.options.datatype = "int";
  s.options.inflight = 64;
  s.lenient = has_word(words, "-lenient");
  const Words names = read_words(mt_options(), words, s);
  s.chosen.named.insert(s.chosen.named.end(), names.begin(), names.end());
  if (s.options.suite.thread_level == ThreadLevel::multiple) {
    s.options.suite.threads = threads_wanted();
  }
  return s;
}

// What a printed time of the bands is of: one message.
double messages_of_pair(const Job& job) {
  const Shape& shape = job.row.shape;
  const int pairs = mt::paired_ranks(shape.ranks, shape.options->stride) / 2;
  return job.row.card->messages(shape) / (static_cast<double>(pairs) * shape.threads);
}

std::string row_of(const Job& job, const ClassicRow& row) {
  constexpr double per_microsecond = 1e6;
  const Card& card = *job.row.card;
  const Shape& shape = job.row.shape;
  const double scale = time_scale(card);
  const auto usec = [scale](double s) { return s * scale * per_microsecond; };
  const double megabytes = card.moved(shape) / usec(row.most);  // bytes per us are MB/s
  Line line;
  if (card.unit != Unit::none) {
    line.count(static_cast<std::int64_t>(shape.bytes) * shape.threads);
  }
  line.count(row.calls);
  if (card.columns == Columns::timed_band) {
    const double message_us = usec(row.mean) / messages_of_pair(job);
    const double at_once = card.messages(shape) / messages_of_pair(job);
    line.value(message_us).value(megabytes).rate(at_once / message_us * per_microsecond);
    return line.text();
  }
  line.value(usec(row.least)).value(usec(row.most)).value(usec(row.mean));
  if (card.columns == Columns::parallel) line.value(megabytes);
  return line.text();
}

std::string heading(const Job& job) {
  const Card& card = *job.row.card;
  const Shape& shape = job.row.shape;
  const bool paired = card.ranks == Ranks::several;
  const int ranks = paired ? mt::paired_ranks(shape.ranks, shape.options->stride) : shape.ranks;
  std::string text = dashes(mt_dashes) + "# Benchmarking " + std::string(card.name) + '\n';
  text += "# #processes = " + std::to_string(ranks) +
          " (threads: " + std::to_string(shape.threads) + ")\n";
  if (card.windowed) text += "# window_size = " + std::to_string(shape.inflight) + '\n';
  return text + dashes(mt_dashes) + head(heads_of(card, {}));
}

void table(const Benchmark& benchmark, Rows& rows, const MtSettings& s, Session& session) {
  Options& options = session.options;
  options.sizes.emplace();
  const std::size_t element = find_type(options.datatype)->bytes;
  for (const std::size_t count : s.counts) options.sizes->push_back(count * element);
  const auto jobs = jobs_of(benchmark, session.ranks, options);
  const auto why = refusal_of(jobs.front().row, INFINITY);
  if (why && (why->limit == Limit::ranks || why->limit == Limit::call)) {
    return say_from_rank_0(
        session, dashes(mt_dashes) + "# Benchmarking " + std::string(benchmark.card.name) +
                     "\n# NO SUCCESSFUL EXECUTIONS\n" + dashes(mt_dashes) + "\n\n");
  }
  say_from_rank_0(session, heading(jobs.front()));
  rows.run(jobs);
  say_from_rank_0(session, "\n");
}

std::string checked_row_of(const Job& job, const ClassicRow& row, bool check) {
  std::string text = row_of(job, row);
  if (check && row.wrong > 0) {
    text += "CHECK FAILURES: ranks 0-" + std::to_string(job.row.shape.ranks - 1) + ": " +
            std::to_string(row.wrong) + '\n';
  }
  return text;
}

std::string help_of(const Program& program, const std::string& option) {
  std::string text;
  if (option.empty()) {
    text = "usage: " + std::string(program.name) + " [-OPTION VALUE ...] [BENCHMARK ...]\n";
  }
  return text + options_text(mt_options(), option);
}

int run_mt(const Program& program, const Words& words) {
  const bool speaks = speaks_for_all();
  if (const auto option = wanted_help(words)) {
    const std::string text = help_of(program, *option);
    if (speaks) say(text);
    return 0;
  }
  if (has_word(words, "-list")) {
    if (speaks) say(list_of(program));
    return 0;
  }
  const MtSettings settings = read(words);
  Words unknown;
  const auto selected =
      chosen_benchmarks(program, settings.chosen, settings.lenient ? &unknown : nullptr);
  if (!unknown.empty()) {
    std::string text;
    for (const auto& name : unknown) {
      text += (name.starts_with('-') ? "Invalid option " : "Invalid benchmark name ") + name + '\n';
    }
    if (speaks) say(text);
    return 0;
  }
  return run_launch(
      program.name, settings.options, {platform::allowed_cpus(), {}}, [&](Session& session) {
        if (settings.header) {
          say_from_rank_0(session, dashes(mt_dashes - 11) +
                                       "#    mpigauge " MPIGAUGE_VERSION ", IMB-compatible, " +
                                       std::string(program.title) + '\n' + dashes(mt_dashes - 11) +
                                       "#\n");
        }
        say_from_rank_0(session, "\n");
        Rows rows(
            session,
            [&](const Job& job, const ClassicRow& row) {
              return checked_row_of(job, row, settings.check);
            },
            [&](const Job&) { return Repeat{settings.warm_up, settings.repetitions}; });
        for (const Benchmark* benchmark : selected) table(*benchmark, rows, settings, session);
      });
}

const AddProgram added{{"IMB-MT", "MT", "MT part    ", run_mt}};

}  // namespace

}  // namespace mpigauge::imb

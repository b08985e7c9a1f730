// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// IMB-P2P: all ranks at once, a table of five columns for each benchmark.

#include "imb/p2p.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/grid.hpp"
#include "driver/launch.hpp"
#include "driver/singletons.hpp"
#include "imb/ours.hpp"
#include "imb/rows.hpp"
#include "imb/tables.hpp"

namespace mpigauge::imb {

namespace {

constexpr int most_int = std::numeric_limits<int>::max();
constexpr int most_log = 47;
constexpr std::size_t banner_dashes = 60;
constexpr std::size_t section_dashes = 64;

void set_iterations(P2pSettings& s, const Value& value) {
  const auto parts = split(value.text, ',');
  if (parts.size() > 2) throw UsageError("'" + value.text + "' is not of the form MAX[,N]");
  s.most = integer({parts[0], value.lenient}, 1, most_int);
  if (parts.size() == 2) s.volume_mib = integer({parts[1], value.lenient}, 1, most_int);
}

void set_logs(P2pSettings& s, const Value& value) {
  const auto parts = split(value.text, ':');
  if (parts.size() > 2) throw UsageError("'" + value.text + "' is not of the form [MIN:]MAX");
  const auto log = [&](const std::string& text) {
    return static_cast<unsigned>(integer({text, value.lenient}, 0, most_log));
  };
  const bool from_zero = parts.size() == 1;
  const unsigned least = from_zero ? 0 : log(parts[0]), last = log(parts.back());
  if (least > last) throw UsageError("'" + value.text + "' ends before it begins");
  s.sizes.clear();
  if (from_zero) s.sizes.push_back(0);
  for (unsigned i = least; i <= last; ++i) s.sizes.push_back(std::size_t{1} << i);
}

void set_lengths(P2pSettings& s, const Value& value) {
  s.sizes.clear();
  for (const auto& line : lines_of(value.text)) s.sizes.push_back(bytes({line, value.lenient}));
  if (s.sizes.empty()) throw UsageError("'" + value.text + "' holds no length");
}

void add_size(P2pSettings& s, const Value& value) {
  if (!s.sizes_listed) s.sizes.clear();
  s.sizes_listed = true;
  s.sizes.push_back(bytes(value));
}

const std::vector<OptionRow<P2pSettings>>& p2p_options() {
  using S = P2pSettings&;
  using V = const Value&;
  static const auto rows = with_ours(with_choice<P2pSettings>({
      {"-iter", "MAX[,N]", "repetitions: N MiB over the size, from 1 to MAX", set_iterations},
      {"-msglog", "[MIN:]MAX", "sizes: powers of two; without MIN from 0 on", set_logs},
      {"-msgsz", "SIZE", "a size, with k, m or g for powers of 1024; may be repeated", add_size},
      {"-msgsize", "SIZE", "the same", add_size},
      {"-msglen", "FILE", "sizes, one a line", set_lengths},
      {"-msgrd", "on|off", "read what was received",
       [](S s, V v) { s.options.suite.touch_recv = boolean(v); }},
      {"-msgwr", "on|off", "write what is to be sent",
       [](S s, V v) { s.options.suite.touch_send = boolean(v); }},
      {"-pause", "US", "microseconds before each row",
       [](S s, V v) { s.pause_us = integer(v, 0, most_int); }},
      {"-l", "", "as -list", [](S, V) {}},
      {"-lenient", "", "leave unknown words out", [](S, V) {}},
  }));
  return rows;
}

std::string sides_text(const Card& card, int ranks) {
  const bool plane = card.ranks == Ranks::plane, volume = card.ranks == Ranks::volume;
  if (!plane && !volume) return "";
  std::string text;
  for (const int side : stencil_sides(ranks, plane ? 2 : 3)) {
    text += (text.empty() ? "" : " x ") + std::to_string(side);
  }
  return " (" + text + ')';
}

// A field of 12 characters behind a blank is one of 13.
std::string row_of(const Job& job, const ClassicRow& row) {
  constexpr double per_microsecond = 1e6;
  const Card& card = *job.row.card;
  const Shape& shape = job.row.shape;
  const double scale = time_scale(card);
  const double messages = card.messages(shape);
  // The mean over ranks, of a message where a rank sends several.
  const double of_rank = std::max(messages / shape.ranks, 1.0);
  const double slowest_s = row.most * scale;
  Line line;
  line.count(static_cast<std::int64_t>(shape.bytes)).count(row.calls);
  line.value(row.mean * scale / of_rank * per_microsecond);
  line.value(card.moved(shape) / slowest_s / per_microsecond).rate(messages / slowest_s);
  return line.text();
}

Repeat repeat_of(const P2pSettings& s, const Job& job) {
  constexpr double per_microsecond = 1e-6;
  const std::int64_t calls = p2p_repetitions(s, job.row.shape.bytes);
  return {.warm_up = calls > 1 ? std::max<std::int64_t>(calls / 10, 1) : 0,
          .calls = calls,
          .pause_s = static_cast<double>(s.pause_us) * per_microsecond};
}

void table(const Benchmark& benchmark, Rows& rows, const P2pSettings& s, Session& session) {
  const Card& card = benchmark.card;
  const int ranks = session.ranks;
  const std::string name(card.name);
  if (ranks < 2 || !can_run_on(card.ranks, ranks)) {
    return say_from_rank_0(session, "\n# !! Benchmark " + name + " is invalid for " +
                                        std::to_string(ranks) + " processes !!\n");
  }
  const std::string line = dashes(section_dashes);
  say_from_rank_0(session, '\n' + line + "# Benchmarking " + name + sides_text(card, ranks) +
                               "\n# #processes = " + std::to_string(ranks) + '\n' + line +
                               head(heads_of(card, {})));
  std::vector<Job> jobs;
  for (const std::size_t size : s.sizes) {  // one by one, as a size may be named twice
    session.options.sizes.emplace(1, size);
    for (const Job& job : jobs_of(benchmark, ranks, session.options)) jobs.push_back(job);
  }
  rows.run(jobs);
}

std::string comment_list(const std::vector<const Benchmark*>& selected) {
  std::string text = "# List of Benchmarks to run:\n#\n";
  for (const Benchmark* b : selected) text += "# " + std::string(b->card.name) + '\n';
  return text + "#\n";
}

std::string title(const Program& program) {
  const std::string line = dashes(banner_dashes);
  return line + "#    mpigauge " MPIGAUGE_VERSION ", IMB-compatible, " +
         std::string(program.title) + '\n' + line;
}

std::string header(const Program& program, const P2pSettings& s, const Words& words,
                   const std::vector<const Benchmark*>& selected) {
  const auto [least, most] = std::minmax_element(s.sizes.begin(), s.sizes.end());
  std::string system = system_lines();
  system.erase(system.find_last_not_of(" \n") + 1);
  std::string text =
      title(program) + system + "\n#\n# Calling sequence was:\n#\n# " + std::string(program.name);
  for (const auto& word : words) text += ' ' + word;
  return text + "\n#\n" + comment_list(selected) +
         "# Minimum message length in bytes:   " + std::to_string(*least) +
         "\n# Maximum message length in bytes:   " + std::to_string(*most) + "\n#\n";
}

std::string help_of(const Program& program, const std::string& option) {
  std::string text = title(program) + "#\n";
  if (option.empty()) {
    text += "# usage: " + std::string(program.name) + " [-OPTION VALUE ...] [BENCHMARK ...]\n#\n";
  }
  const std::string options = options_text(p2p_options(), option);
  std::size_t begin = 0;
  for (auto end = options.find('\n'); end != std::string::npos; end = options.find('\n', begin)) {
    text += '#' + options.substr(begin, end - begin) + '\n';
    begin = end + 1;
  }
  return text + "#\n";
}

int run_p2p(const Program& program, const Words& words) {
  const bool speaks = speaks_for_all();
  if (const auto option = wanted_help(words)) {
    const std::string text = help_of(program, *option);
    if (speaks) say(text);
    return 0;
  }
  if (has_word(words, "-list") || has_word(words, "-l")) {
    if (speaks) say(title(program) + comment_list(benchmarks_named(program, {}, nullptr)));
    return 0;
  }
  const P2pSettings settings = read_p2p_settings(words);
  Words unknown;
  const auto selected =
      chosen_benchmarks(program, settings.chosen, settings.lenient ? &unknown : nullptr);
  return run_launch(
      program.name, settings.options, {platform::allowed_cpus(), {}}, [&](Session& session) {
        say_from_rank_0(session,
                        session.rank == 0 ? header(program, settings, words, selected) : "");
        Rows rows(session, row_of, [&](const Job& job) { return repeat_of(settings, job); });
        for (const Benchmark* benchmark : selected) table(*benchmark, rows, settings, session);
        say_from_rank_0(session, footer());
      });
}

const AddProgram added{{"IMB-P2P", "P2P", "IMB-P2P part", run_p2p}};

}  // namespace

std::int64_t p2p_repetitions(const P2pSettings& settings, std::size_t bytes) {
  if (bytes == 0) return settings.most;
  const double volume = static_cast<double>(settings.volume_mib) * (1U << 20U);
  const double wanted = std::round(volume / static_cast<double>(bytes));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(wanted, 1e18)), 1,
                                  settings.most);
}

P2pSettings read_p2p_settings(const Words& words) {
  P2pSettings settings;
  settings.options = plain_options();
  settings.lenient = has_word(words, "-lenient");
  set_logs(settings, {"22", false});
  const Words names = read_words(p2p_options(), words, settings);
  settings.chosen.named.insert(settings.chosen.named.end(), names.begin(), names.end());
  return settings;
}

}  // namespace mpigauge::imb

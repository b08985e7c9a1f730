// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// IMB-HALO: one benchmark, a free-form line for each length.

#include <array>
#include <cstdio>
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

struct HaloSettings {
  Options options;
  std::vector<int> proportions{1};
  std::vector<std::size_t> counts{1, 2, 4, 8};
  std::int64_t repetitions = 1000;
  std::int64_t warm_up = 100;
  bool stride = false;
  Chosen chosen;
};

std::vector<int> sides_of(const Value& value) {
  const char at = value.text.find('x') == std::string::npos ? '.' : 'x';
  std::vector<int> sides;
  for (const auto& part : split(value.text, at)) {
    sides.push_back(static_cast<int>(integer({part, value.lenient}, 1, most_int)));
  }
  return sides;
}

const std::vector<OptionRow<HaloSettings>>& halo_options() {
  using S = HaloSettings&;
  using V = const Value&;
  static const auto rows = with_ours(with_choice<HaloSettings>({
      {"-topo", "A.B.C", "proportions of the grid; without it a ring of all ranks",
       [](S s, V v) { s.proportions = sides_of(v); }},
      {"-count", "N,N,...", "elements of a message",
       [](S s, V v) {
         s.counts.clear();
         for (const auto& part : split(v.text, ',')) {
           s.counts.push_back(static_cast<std::size_t>(integer({part, v.lenient}, 0, most_int)));
         }
       }},
      {"-datatype", "int|char", "what the elements are",
       [](S s, V v) {
         s.options.datatype = choice<std::string>(v, {{"int", "int"}, {"char", "char"}});
       }},
      {"-repeat", "N", "timed repetitions",
       [](S s, V v) { s.repetitions = integer(v, 1, most_int); }},
      {"-warmup", "N", "untimed repetitions before them",
       [](S s, V v) { s.warm_up = integer(v, 0, most_int); }},
      {"-thread_level", "single|funneled|serialized|multiple", "that MPI is asked for",
       [](S s, V v) { s.options.suite.thread_level = choice<ThreadLevel>(v); }},
      {"-stride", "N", "between the ranks of a pair; a grid has no pairs, so it changes nothing",
       [](S s, V v) { s.stride = integer(v, 0, most_int / 2) != 0; }},
      {"-malloc_align", "N", "bytes, of buffers; they begin on pages, so all up to 4096 hold",
       [](S s, V v) { s.options.suite.align = align_of(v); }},
      {"-lenient", "", "leave unknown words out", [](S, V) {}},
  }));
  return rows;
}

// The mean over ranks, as IMB prints it.
std::string row_of(const Job& job, const ClassicRow& row) {
  const double usec = row.mean * 1e6;
  const int times = 2 * faces_of(job.row.shape.options->topo);  // sent and received
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%zu(x%d)(bytes) %g(usec) %g(Mb/s)\n",
                job.row.shape.bytes, times, usec, job.row.card->moved(job.row.shape) / usec);
  return text.data();
}

// The grid, which may have fewer points than there are ranks. Throws UsageError where it has more.
std::vector<int> grid_of(const std::vector<int>& proportions, int ranks) {
  const auto sides = halo_sides(proportions, ranks);
  double points = 1;
  for (const int side : sides) points *= side;
  if (points > ranks) {
    throw UsageError("-topo: a grid of " + format_sides(sides) +
                     " has more points than the job has processes, " + std::to_string(ranks));
  }
  return sides;
}

std::string heading(const HaloSettings& s, const Card& card, const std::vector<int>& sides,
                    int world) {
  const int ranks = points_of(sides);
  std::string text = "\n# Benchmarking " + std::string(card.name) +
                     " (processes: " + std::to_string(ranks) +
                     "; threads: " + std::to_string(s.options.suite.threads) +
                     "; dimensions: " + std::to_string(sides.size()) + ")\n";
  Place place;
  place.ranks = ranks;
  place.world_ranks = world;
  text += idle_text(place);
  if (sides != s.proportions && s.proportions.size() > 1) {
    text += "# a grid of " + format_sides(sides) + ", in the proportions of " +
            format_sides(s.proportions) + '\n';
  }
  if (s.stride) text += "# -stride changes nothing: a grid has neighbours, not pairs\n";
  return text;
}

void table(const HaloSettings& s, const Benchmark& benchmark, Session& session) {
  Options& options = session.options;
  options.sizes.emplace();
  const std::size_t element = find_type(options.datatype)->bytes;
  for (const std::size_t count : s.counts) options.sizes->push_back(count * element);
  const std::vector<int> sides = grid_of(s.proportions, session.ranks);
  options.suite.topo = sides;
  const auto jobs = jobs_of(benchmark, points_of(sides), options);
  say_from_rank_0(session, heading(s, benchmark.card, sides, session.ranks));
  Rows rows(
      session, row_of, [&](const Job&) { return Repeat{s.warm_up, s.repetitions}; },
      points_of(sides));
  rows.run(jobs);
}

int run_halo(const Program& program, const Words& words) {
  if (const auto option = wanted_help(words)) {
    const std::string text = options_text(halo_options(), *option);
    if (speaks_for_all()) say(text);
    return 0;
  }
  if (has_word(words, "-list")) {
    const std::string text = list_of(program);
    if (speaks_for_all()) say(text);
    return 0;
  }
  HaloSettings settings;
  settings.options = plain_options();
  settings.options.datatype = "int";
  const Words names = read_words(halo_options(), words, settings);
  settings.chosen.named.insert(settings.chosen.named.end(), names.begin(), names.end());
  Words unknown;
  const auto selected =
      chosen_benchmarks(program, settings.chosen, has_word(words, "-lenient") ? &unknown : nullptr);
  return run_launch(program.name, settings.options, {platform::allowed_cpus(), {}},
                    [&](Session& session) {
                      for (const Benchmark* benchmark : selected)
                        table(settings, *benchmark, session);
                    });
}

const AddProgram added{{"IMB-HALO", "HALO", "HALO part", run_halo}};

}  // namespace

}  // namespace mpigauge::imb

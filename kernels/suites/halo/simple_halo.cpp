// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"
#include "core/grid.hpp"
#include "core/groups.hpp"
#include "core/threads.hpp"

namespace mpigauge {
namespace {

std::vector<int> sides_of(const SuiteOptions& options, int ranks) {
  return options.topo.empty() ? even_sides(ranks) : options.topo;
}

double faces(const Shape& s) {
  return static_cast<double>(faces_of(sides_of(*s.options, s.ranks)));
}

// A grid that leaves ranks out would measure fewer than it was asked for.
std::string does_not_fit(const Shape& s) {
  const auto sides = sides_of(*s.options, s.ranks);
  double points = 1;
  for (const int side : sides) points *= side;
  if (points == s.ranks) return "";
  return "a grid of " + format_sides(sides) + " does not have one place for each of " +
         std::to_string(s.ranks) + " ranks";
}

constexpr Card card{
    .suite = "HALO",
    .name = "simple_halo",
    .about = "Ranks form a periodic grid: each exchanges messages with its neighbours.",
    .place = 10,
    .ranks = Ranks::several,
    .columns = Columns::parallel,
    .send = [](const Shape& s) { return faces(s) * message(s); },
    .recv = [](const Shape& s) { return faces(s) * message(s); },
    .moved = [](const Shape& s) { return 2 * faces(s) * s.threads * message(s); },
    .messages = [](const Shape& s) { return 2 * faces(s) * s.threads; },
    .large_counts = true,
    .options = {SuiteOption::threads, SuiteOption::thread_memory, SuiteOption::topo},
    .excuse = does_not_fit,
};

void halo(Run& run) { exchange_on(run, sides_of(run.options(), run.ranks()), Touch(false, false)); }

const Add added{card, [](Run& run) { on_threads(run, halo); }};

}  // namespace
}  // namespace mpigauge

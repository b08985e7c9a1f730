// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/tuning.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace mpigauge::node {

namespace {

constexpr std::size_t lines_apart = 37;  // a number of lines that no cache's sets are a multiple of
constexpr std::array names{"generic", "sse2", "avx2", "avx512", "neon"};
constexpr std::array manners{Manner{false, false}, Manner{false, true}, Manner{true, false},
                             Manner{true, true}};
constexpr bool stores(Stream what) { return what != Stream::read && what != Stream::dot; }

using Key = std::tuple<Stream, std::size_t, int>;
std::map<Key, Tuned>& found() {
  static std::map<Key, Tuned> all;
  return all;
}

double shortest(Stream what, const Arrays& a, Loop loop) {
  constexpr int attempts = 3;
  constexpr std::size_t least_numbers = 1U << 14U;
  const std::size_t passes =
      std::max<std::size_t>(1, least_numbers / std::max<std::size_t>(a.n, 1));
  auto least = std::numeric_limits<platform::Ticks>::max();
  for (int i = 0; i < attempts; ++i) {
    const auto start = platform::ticks();
    for (std::size_t pass = 0; pass < passes; ++pass) loop(a.x, a.y, a.z, a.n, factor_of(what));
    least = std::min(least, platform::ticks() - start);
  }
  return static_cast<double>(least);
}

// The best is the one whose slowest rank is the fastest. What a rank does not have is out on all.
std::size_t best_of_all(const Run& run, std::vector<double> times) {
  call(MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE,
                     MPI_MAX, run.comm()));
  return static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
}

Tuned choose(const Run& run, Stream what) {
  std::vector<Tuned> all;
  std::vector<double> times;
  const Arrays a = arrays_of(run, Pages::huge);
  make_ready(what, a);
  for (const auto* name : names) {
    for (const Manner manner : manners) {
      if (manner.past_caches && !stores(what)) continue;
      const Tuned each{vectors(name), manner};
      all.push_back(each);
      times.push_back(each.vectors != nullptr ? shortest(what, a, each.loop(what))
                                              : std::numeric_limits<double>::infinity());
    }
  }
  Tuned best = all.at(best_of_all(run, times));
  const Loop loop = best.loop(what);
  const Arrays moved = arrays_of(run, Pages::huge, lines_apart);
  const bool better = best_of_all(run, {shortest(what, a, loop), shortest(what, moved, loop)}) == 1;
  best.lines = better ? lines_apart : 0;
  best.huge = in_huge_pages(a);
  return best;
}

Key key_of(Stream what, std::size_t bytes, int ranks) { return {what, bytes, ranks}; }

}  // namespace

std::string words_of(const Tuned& tuned) {
  std::string text(tuned.vectors->name);
  if (tuned.manner.past_caches) text += ", past the caches";
  if (tuned.manner.strips) text += ", " + std::to_string(strips_side_by_side) + " strips";
  if (tuned.lines > 0) text += ", " + std::to_string(tuned.lines) + " lines apart";
  return text + (tuned.huge ? ", huge pages" : ", usual pages");
}

// At the checked visit, which all ranks of a run make together; a rank that knew an answer from
// another group of as many must not leave the others alone.
const Tuned& tuned_for(const Run& run, Stream what) {
  const Key key = key_of(what, run.bytes(), run.ranks());
  if (run.checking()) found()[key] = choose(run, what);
  return found().at(key);
}

std::string found_for(Stream what, const Shape& shape) {
  const auto at = found().find(key_of(what, shape.bytes, shape.ranks));
  return at == found().end() ? "" : words_of(at->second);
}

}  // namespace mpigauge::node

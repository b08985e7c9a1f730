// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace mpigauge::node {

namespace {

constexpr std::size_t lines_apart = 37;  // a number of lines that no cache's sets are a multiple of
constexpr std::size_t few_ways = 4;
constexpr std::array names{"generic", "sse2", "avx2", "avx512", "neon"};
constexpr std::array manners{Manner{false, false}, Manner{false, true}, Manner{true, false},
                             Manner{true, true}};
constexpr bool stores(Stream what) { return what != Stream::read && what != Stream::dot; }

// Bytes, ranks, threads, their order, and the NUMA nodes of memory.
using Key = std::tuple<Stream, std::size_t, int, int, std::string, std::string>;
std::map<Key, Tuned>& found() {
  static std::map<Key, Tuned> all;
  return all;
}

Key key_of(Stream what, std::size_t bytes, int ranks, int threads, const SuiteOptions& s) {
  return {what, bytes, ranks, threads, s.thread_order, s.memory_on};
}

constexpr std::size_t least_numbers = 1U << 14U;  // of an attempt; fewer are gone over again
constexpr std::size_t many_numbers = 1U << 20U;   // a pass over these takes long

double shortest(const Crew& crew, Stream what, const Arrays& a, Loop loop, int attempts) {
  Passes go(crew, what, a);
  const std::size_t passes =
      std::max<std::size_t>(1, least_numbers / std::max<std::size_t>(a.n, 1));
  auto least = std::numeric_limits<platform::Ticks>::max();
  for (int i = 0; i < attempts; ++i) {
    const auto start = platform::ticks();
    for (std::size_t pass = 0; pass < passes; ++pass) go(loop);
    least = std::min(least, platform::ticks() - start);
  }
  return static_cast<double>(least);
}

// A way counts by its slowest rank. What a rank does not have is out on all.
std::vector<double> slowest(const Run& run, std::vector<double> times) {
  call(MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE,
                     MPI_MAX, run.comm()));
  return times;
}

std::vector<double> times_of(const Run& run, const Crew& crew, Stream what, const Arrays& a,
                             const std::vector<Tuned>& ways, int attempts) {
  std::vector<double> times;
  for (const Tuned& way : ways) {
    times.push_back(way.vectors != nullptr ? shortest(crew, what, a, way.loop(what), attempts)
                                           : std::numeric_limits<double>::infinity());
  }
  return slowest(run, times);
}

std::vector<Tuned> all_ways(Stream what) {
  std::vector<Tuned> all;
  for (const auto* name : names) {
    for (const Manner manner : manners) {
      if (!manner.past_caches || stores(what)) all.push_back({vectors(name), manner});
    }
  }
  return all;
}

// Places of the few that were fastest, the fastest first; none where there are no more.
using Few = std::array<std::size_t, few_ways>;
constexpr std::size_t none = SIZE_MAX;
constexpr Few nothing_known{none, none, none, none};

Few fastest(const std::vector<Tuned>& ways, const std::vector<double>& times) {
  std::vector<std::size_t> order(ways.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return std::isinf(times[i]); });  // not on all ranks
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return times[i] < times[j]; });
  Few few = nothing_known;
  std::copy_n(order.begin(), std::min(order.size(), few.size()), few.begin());
  return few;
}

std::vector<Tuned> named(const Few& few, const std::vector<Tuned>& ways) {
  std::vector<Tuned> found;
  for (const std::size_t i : few) {
    if (i != none) found.push_back(ways[i]);
  }
  return found;
}

// What a glance at all ways finds. Streams that store are like one another, and so are those that
// only read: the first of either kind looks for all of its kind, which saves most of the trials.
// The first rank's knowledge counts: others may have theirs from a group with other ranks.
std::vector<Tuned> promising(const Run& run, const Crew& crew, Stream what, const Arrays& a) {
  static std::map<Key, Few> known;
  const Stream kind = stores(what) ? Stream::triad : Stream::read;
  const Key key = key_of(kind, run.bytes(), run.ranks(), run.threads(), run.options());
  Few& few = known.try_emplace(key, nothing_known).first->second;
  call(MPI_Bcast(few.data(), static_cast<int>(few.size()), MPI_UINT64_T, 0, run.comm()));
  const auto all = all_ways(what);
  if (few == nothing_known) {
    const int glance = a.n >= many_numbers ? 2 : 3;
    few = fastest(all, times_of(run, crew, what, a, all, glance));
  }
  return named(few, all);
}

// A glance at all, a closer look at the best of them, and then whether it likes its arrays moved.
Tuned choose(const Run& run, const Crew& crew, Stream what) {
  const Arrays a = arrays_of(run, crew, Pages::huge);
  make_ready(what, a);
  const auto few = promising(run, crew, what, a);
  Tuned best = few.at(fastest(few, times_of(run, crew, what, a, few, 3)).front());
  const Loop loop = best.loop(what);
  const Arrays moved = arrays_of(run, crew, Pages::huge, lines_apart);
  const auto both =
      slowest(run, {shortest(crew, what, a, loop, 3), shortest(crew, what, moved, loop, 3)});
  best.lines = both[1] < both[0] ? lines_apart : 0;
  best.huge = in_huge_pages(a);
  return best;
}

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
const Tuned& tuned_for(const Run& run, const Crew& crew, Stream what) {
  const Key key = key_of(what, run.bytes(), run.ranks(), run.threads(), run.options());
  if (run.checking()) found()[key] = choose(run, crew, what);
  return found().at(key);
}

std::string found_for(Stream what, const Shape& shape) {
  const auto at =
      found().find(key_of(what, shape.bytes, shape.ranks, shape.threads, *shape.options));
  return at == found().end() ? "" : words_of(at->second);
}

}  // namespace mpigauge::node

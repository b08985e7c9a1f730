// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Our plain and tuned loops beside those by hand, over the same arrays in the same process, one
// after the other in turn, each on so many threads. Writes a line for each round: stream, and the
// seconds of the loop by hand as -march=native makes it, of plain, and of tuned.
// Called with: bytes of an array, rounds, threads, then streams.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "platform/platform.hpp"
#include "suites/node/pool.hpp"
#include "suites/node/vectors.hpp"

using namespace mpigauge;
using namespace mpigauge::node;

namespace by_hand {
void scale(double* __restrict x, const double* __restrict y, std::size_t n, double s);
void add(double* __restrict x, const double* __restrict y, const double* __restrict z,
         std::size_t n);
void triad(double* __restrict x, const double* __restrict y, const double* __restrict z,
           std::size_t n, double s);
}  // namespace by_hand

namespace {

constexpr double factor = 3;
constexpr std::size_t huge_page = std::size_t{2} << 20U;
constexpr std::size_t apart = 37 * 8;  // numbers that the tuned loops may move their arrays by
constexpr std::size_t line = 8;

struct Arrays {
  double *x, *y, *z;
  std::size_t n;
};

Arrays part(const Arrays& a, int thread, int threads) {
  const auto edge = [&](int i) {
    return i == threads ? a.n : a.n / line * static_cast<std::size_t>(i) / threads * line;
  };
  const std::size_t first = edge(thread);
  return {a.x + first, a.y + first, a.z + first, edge(thread + 1) - first};
}

// The arrays follow each other, `between` numbers further apart than they are long.
Arrays arrays(std::size_t bytes, int advice, std::size_t between) {
  const std::size_t n = bytes / sizeof(double), all = 3 * (n + between);
  const std::size_t whole = (all * sizeof(double) + huge_page - 1) / huge_page * huge_page;
  auto* base = static_cast<double*>(std::aligned_alloc(huge_page, whole));
  if (base == nullptr) {
    std::fputs("not enough memory\n", stderr);
    std::exit(2);
  }
  madvise(base, whole, advice);
  return {base, base + n + between, base + 2 * (n + between), n};
}

using Go = std::function<void(const Arrays&)>;

double seconds(Pool& pool, const Arrays& a, const Go& go) {
  auto work = [&](int thread) { go(part(a, thread, pool.threads())); };
  const auto start = std::chrono::steady_clock::now();
  pool.run(work);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void fill(const Arrays& a) {
  std::fill_n(a.x, a.n, 1.0);
  std::fill_n(a.y, a.n, 1.0);
  std::fill_n(a.z, a.n, 1.0);
}

struct Tuned {
  Loop loop = nullptr;
  const Arrays* arrays = nullptr;
};

// The best of three attempts at all there are, over both ways to lay out the arrays.
Tuned best_tuned(Pool& pool, Stream stream, const std::array<Arrays, 2>& laid) {
  Tuned best;
  double least = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 3; ++attempt) {
    for (const Vectors* each : vectors()) {
      for (const Loop loop : each->tuned.at(place_of(stream))) {
        for (const Arrays& a : laid) {
          const double took =
              seconds(pool, a, [loop](const Arrays& p) { loop(p.x, p.y, p.z, p.n, factor); });
          if (took >= least) continue;
          least = took;
          best = {loop, &a};
        }
      }
    }
  }
  return best;
}

struct Rival {
  std::string_view name;
  Stream stream;
  void (*by_hand)(const Arrays&);
};

constexpr std::array rivals{
    Rival{"scale", Stream::scale, [](const Arrays& a) { by_hand::scale(a.x, a.y, a.n, factor); }},
    Rival{"add", Stream::add, [](const Arrays& a) { by_hand::add(a.x, a.y, a.z, a.n); }},
    Rival{"triad", Stream::triad,
          [](const Arrays& a) { by_hand::triad(a.x, a.y, a.z, a.n, factor); }},
};

std::vector<platform::CpuSet> first_cores(int threads) {
  const auto allowed = platform::allowed_cpus();
  if (static_cast<int>(allowed.size()) < threads) {
    std::fprintf(stderr, "%d threads are more than %zu cores\n", threads, allowed.size());
    std::exit(2);
  }
  std::vector<platform::CpuSet> places;
  for (int i = 0; i < threads; ++i) places.push_back({allowed[static_cast<std::size_t>(i)]});
  return places;
}

void compete(Pool& pool, const Rival& rival, const Arrays& usual, const std::array<Arrays, 2>& huge,
             int rounds) {
  const Loop plain = usual_vectors().plain.at(place_of(rival.stream));
  const Tuned tuned = best_tuned(pool, rival.stream, huge);
  const auto ours = [](Loop loop) {
    return [loop](const Arrays& a) { loop(a.x, a.y, a.z, a.n, factor); };
  };
  const std::array<Go, 3> all{rival.by_hand, ours(plain), ours(tuned.loop)};
  // Who comes second over the same arrays finds their page tables in the caches, so both take
  // turns.
  const std::array<std::array<std::size_t, 3>, 2> orders{{{0, 1, 2}, {1, 0, 2}}};
  for (int round = 0; round < rounds; ++round) {
    std::array<double, 3> took{};
    for (const std::size_t which : orders.at(static_cast<std::size_t>(round) % 2)) {
      took.at(which) = seconds(pool, which == 2 ? *tuned.arrays : usual, all.at(which));
    }
    std::printf("%s %.9f %.9f %.9f\n", rival.name.data(), took[0], took[1], took[2]);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("usage: node_memory BYTES ROUNDS THREADS STREAM...\n", stderr);
    return 2;
  }
  const auto bytes = static_cast<std::size_t>(std::atoll(argv[1]));
  const auto places = first_cores(std::atoi(argv[3]));
  platform::bind(places[0]);
  Pool pool(places);
  const Arrays usual = arrays(bytes, MADV_NOHUGEPAGE, 0);
  const std::array huge{arrays(bytes, MADV_HUGEPAGE, 0), arrays(bytes, MADV_HUGEPAGE, apart)};
  for (const Arrays& a : {usual, huge[0], huge[1]}) seconds(pool, a, fill);
  for (int i = 4; i < argc; ++i) {
    for (const Rival& rival : rivals) {
      if (rival.name == argv[i]) compete(pool, rival, usual, huge, std::atoi(argv[2]));
    }
  }
}

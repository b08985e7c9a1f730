// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Our plain and tuned loops beside those by hand, over the same arrays in the same process, one
// after the other in turn. Writes a line for each round: stream, and the seconds of the loop by
// hand with our instructions, the same with all there are, plain, and tuned. Called with --isa it
// writes the instructions that plain uses.
#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "suites/node/vectors.hpp"

using namespace mpigauge::node;

namespace by_hand {
void scale(double* __restrict x, const double* __restrict y, std::size_t n, double s);
void add(double* __restrict x, const double* __restrict y, const double* __restrict z,
         std::size_t n);
void triad(double* __restrict x, const double* __restrict y, const double* __restrict z,
           std::size_t n, double s);
}  // namespace by_hand

namespace by_hand_native {
void scale(double* __restrict x, const double* __restrict y, std::size_t n, double s);
void add(double* __restrict x, const double* __restrict y, const double* __restrict z,
         std::size_t n);
void triad(double* __restrict x, const double* __restrict y, const double* __restrict z,
           std::size_t n, double s);
}  // namespace by_hand_native

namespace {

constexpr double factor = 3;
constexpr std::size_t huge_page = std::size_t{2} << 20U;

struct Arrays {
  double *x, *y, *z;
  std::size_t n;
};

Arrays arrays(std::size_t bytes, int advice) {
  auto* base = static_cast<double*>(std::aligned_alloc(huge_page, 3 * bytes));
  if (base == nullptr) {
    std::fputs("not enough memory\n", stderr);
    std::exit(2);
  }
  madvise(base, 3 * bytes, advice);
  const std::size_t n = bytes / sizeof(double);
  for (std::size_t i = 0; i < 3 * n; ++i) base[i] = 1;
  return {base, base + n, base + 2 * n, n};
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void go_over(Loop loop, const Arrays& a) { loop(a.x, a.y, a.z, a.n, factor); }

Loop best_tuned(Stream stream, const Arrays& a) {
  Loop best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 3; ++attempt) {
    for (const Vectors* each : vectors()) {
      for (const Loop loop : each->tuned.at(place_of(stream))) {
        const double took = seconds([&] { go_over(loop, a); });
        if (took >= least) continue;
        least = took;
        best = loop;
      }
    }
  }
  return best;
}

using Run = void (*)(const Arrays&);

struct Rival {
  const char* name;
  Stream stream;
  Run alike, native;
};

constexpr Rival rivals[] = {
    {"scale", Stream::scale, [](const Arrays& a) { by_hand::scale(a.x, a.y, a.n, factor); },
     [](const Arrays& a) { by_hand_native::scale(a.x, a.y, a.n, factor); }},
    {"add", Stream::add, [](const Arrays& a) { by_hand::add(a.x, a.y, a.z, a.n); },
     [](const Arrays& a) { by_hand_native::add(a.x, a.y, a.z, a.n); }},
    {"triad", Stream::triad, [](const Arrays& a) { by_hand::triad(a.x, a.y, a.z, a.n, factor); },
     [](const Arrays& a) { by_hand_native::triad(a.x, a.y, a.z, a.n, factor); }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--isa") {
    std::printf("%s\n", std::string(usual_vectors().name).c_str());
    return 0;
  }
  const auto bytes = static_cast<std::size_t>(std::atoll(argc > 1 ? argv[1] : "134217728"));
  const int rounds = std::atoi(argc > 2 ? argv[2] : "11");
  const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
  const Arrays usual = arrays(whole, MADV_NOHUGEPAGE), huge = arrays(whole, MADV_HUGEPAGE);
  for (const Rival& rival : rivals) {
    const Loop plain = usual_vectors().plain.at(place_of(rival.stream));
    const Loop tuned = best_tuned(rival.stream, huge);
    for (int round = 0; round < rounds; ++round) {
      double took[3] = {};
      for (int i = 0; i < 3; ++i) {
        const int which = (round + i) % 3;
        took[which] = seconds([&] {
          if (which == 0) rival.alike(usual);
          else if (which == 1) rival.native(usual);
          else go_over(plain, usual);
        });
      }
      const double best = seconds([&] { go_over(tuned, huge); });
      std::printf("%s %.9f %.9f %.9f %.9f\n", rival.name, took[0], took[1], took[2], best);
    }
  }
}

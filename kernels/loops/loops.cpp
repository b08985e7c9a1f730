// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The simple loops as a library of their own, for any compiler that knows C++17: it needs no other
// library. MPIGAUGE_FLAGS is a text, what the compiler was told.
#include "loops/loops.hpp"

#include "suites/node/plain.hpp"

#define MPIGAUGE_TEXT_OF(x) #x
#define MPIGAUGE_TEXT(x) MPIGAUGE_TEXT_OF(x)
#if defined(__NVCOMPILER)
#define MPIGAUGE_COMPILER \
  "nvc++ " MPIGAUGE_TEXT(__NVCOMPILER_MAJOR__) "." MPIGAUGE_TEXT(__NVCOMPILER_MINOR__)
#elif defined(__clang__) || defined(__INTEL_COMPILER)
#define MPIGAUGE_COMPILER __VERSION__
#else
#define MPIGAUGE_COMPILER "GCC " __VERSION__
#endif

#if !defined(MPIGAUGE_FLAGS)
#define MPIGAUGE_FLAGS "flags are not known"
#endif

namespace mpigauge::node {
namespace {

constexpr std::size_t few = 1003;

// In the order of Stream.
constexpr Loop loops[] = {plain<Stream::read>,   plain<Stream::write>, plain<Stream::copy>,
                          plain<Stream::scale>,  plain<Stream::add>,   plain<Stream::triad>,
                          plain<Stream::update>, plain<Stream::dot>};
static_assert(sizeof loops / sizeof *loops == stream_count);

}  // namespace
}  // namespace mpigauge::node

mpigauge::node::Loop mpigauge_loop(int stream) { return mpigauge::node::loops[stream]; }

const char* mpigauge_words() { return MPIGAUGE_COMPILER ", " MPIGAUGE_FLAGS; }

void mpigauge_try() {
  using namespace mpigauge::node;
  static double x[few], y[few], z[few];
  for (const Loop loop : loops) loop(x, y, z, few, 3.0);
}

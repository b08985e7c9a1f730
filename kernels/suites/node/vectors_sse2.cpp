// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#if defined(__SSE2__)
#include <immintrin.h>

#include "suites/node/loops.hpp"

namespace mpigauge::node {
namespace {

struct Wide {
  using number = double;
  using type = __m128d;
  static constexpr unsigned lanes = 2;
  static constexpr unsigned busy_registers = 14;
  static type load(const double* at) { return _mm_loadu_pd(at); }
  static void store(double* at, type v) { _mm_storeu_pd(at, v); }
  static void store_past_caches(double* at, type v) { _mm_stream_pd(at, v); }
  static void finish_stores() { _mm_sfence(); }
  static type all(double v) { return _mm_set1_pd(v); }
  static type plus(type a, type b) { return _mm_add_pd(a, b); }
  static type times(type a, type b) { return _mm_mul_pd(a, b); }
  static type times_plus(type x, type m, type a) { return _mm_add_pd(_mm_mul_pd(x, m), a); }
};

// For the peak alone.
struct Single {
  using number = float;
  using type = __m128;
  static constexpr unsigned lanes = 4;
  static constexpr unsigned busy_registers = 14;
  static type all(double v) { return _mm_set1_ps(static_cast<float>(v)); }
  static type times_plus(type x, type m, type a) { return _mm_add_ps(_mm_mul_ps(x, m), a); }
  static void store(number* at, type v) { _mm_storeu_ps(at, v); }
};

constexpr Vectors all = vectors_of<Wide, Single>("sse2");

}  // namespace

const Vectors* sse2_vectors() { return &all; }

}  // namespace mpigauge::node
#else
#include "suites/node/vectors.hpp"

namespace mpigauge::node {
const Vectors* sse2_vectors() { return nullptr; }
}  // namespace mpigauge::node
#endif

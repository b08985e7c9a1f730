// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#if defined(__AVX2__)
#include <immintrin.h>

#include "suites/node/loops.hpp"

namespace mpigauge::node {
namespace {

struct Wide {
  using number = double;
  using type = __m256d;
  static constexpr unsigned lanes = 4;
  static constexpr unsigned busy_registers = 12;
  static type load(const double* at) { return _mm256_loadu_pd(at); }
  static void store(double* at, type v) { _mm256_storeu_pd(at, v); }
  static void store_past_caches(double* at, type v) { _mm256_stream_pd(at, v); }
  static void finish_stores() { _mm_sfence(); }
  static type all(double v) { return _mm256_set1_pd(v); }
  static type plus(type a, type b) { return _mm256_add_pd(a, b); }
  static type times(type a, type b) { return _mm256_mul_pd(a, b); }
  static type times_plus(type x, type m, type a) { return _mm256_fmadd_pd(x, m, a); }
};

// For the peak alone.
struct Single {
  using number = float;
  using type = __m256;
  static constexpr unsigned lanes = 8;
  static constexpr unsigned busy_registers = 12;
  static type all(double v) { return _mm256_set1_ps(static_cast<float>(v)); }
  static type times_plus(type x, type m, type a) { return _mm256_fmadd_ps(x, m, a); }
  static void store(number* at, type v) { _mm256_storeu_ps(at, v); }
};

constexpr Vectors all = vectors_of<Wide, Single>("avx2");

}  // namespace

const Vectors* avx2_vectors() { return &all; }

}  // namespace mpigauge::node
#else
#include "suites/node/vectors.hpp"

namespace mpigauge::node {
const Vectors* avx2_vectors() { return nullptr; }
}  // namespace mpigauge::node
#endif

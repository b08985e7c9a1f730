// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What every processor has: numbers one at a time.
#include "suites/node/loops.hpp"

namespace mpigauge::node {
namespace {

// Compilers make vectors of numbers that are treated alike, so each is hidden from them.
struct One {
  using type = double;
  static constexpr unsigned lanes = 1;
  static constexpr unsigned busy_registers = 12;
  static type load(const double* at) { return *at; }
  static void store(double* at, type v) { *at = v; }
  static void store_past_caches(double* at, type v) { *at = v; }
  static void finish_stores() {}
  static type all(double v) { return v; }
  static type plus(type a, type b) { return a + b; }
  static type times(type a, type b) { return a * b; }
  static type times_plus(type x, type m, type a) {
    type v = x * m + a;
    hide(v);
    return v;
  }
  static void hide(type& v) {
#if defined(__x86_64__)
    asm("" : "+x"(v));
#elif defined(__aarch64__)
    asm("" : "+w"(v));
#else
    asm("" : "+m"(v));
#endif
  }
  static double sum(type v) { return v; }
};

constexpr Vectors all = vectors_of<One>("generic");

}  // namespace

const Vectors* generic_vectors() { return &all; }
Peak scalar_peak() { return all.peak; }

}  // namespace mpigauge::node

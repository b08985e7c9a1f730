// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What every processor has: numbers one at a time.
#include "suites/node/loops.hpp"

namespace mpigauge::node {
namespace {

// Compilers make vectors of numbers that are treated alike, so each is hidden from them.
template <class Number>
struct One {
  using number = Number;
  using type = Number;
  static constexpr unsigned lanes = 1;
  static constexpr unsigned busy_registers = 12;
  static type load(const double* at) { return *at; }
  static void store(number* at, type v) { *at = v; }
  static void store_past_caches(double* at, type v) { *at = v; }
  static void finish_stores() {}
  static type all(double v) { return static_cast<type>(v); }
  static type plus(type a, type b) { return a + b; }
  static type times(type a, type b) { return a * b; }
  static type times_plus(type x, type m, type a) {
    type v = x * m + a;
    hide(v);
    return v;
  }
};

constexpr Vectors all = vectors_of<One<double>, One<float>>("generic");

}  // namespace

const Vectors* generic_vectors() { return &all; }
Peak scalar_peak(Precision precision) { return all.peak_in(precision); }

}  // namespace mpigauge::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#if defined(__aarch64__)
#include <arm_neon.h>

#include "suites/node/loops.hpp"

namespace mpigauge::node {
namespace {

struct Wide {
  using number = double;
  using type = float64x2_t;
  static constexpr unsigned lanes = 2;
  static constexpr unsigned busy_registers = 24;
  static type load(const double* at) { return vld1q_f64(at); }
  static void store(double* at, type v) { vst1q_f64(at, v); }
  // A pair of halves, since the instruction stores two registers: it is a hint to the caches.
  static void store_past_caches(double* at, type v) {
    asm volatile("stnp %d1, %d2, [%0]"
                 :
                 : "r"(at), "w"(vgetq_lane_f64(v, 0)), "w"(vgetq_lane_f64(v, 1))
                 : "memory");
  }
  static void finish_stores() { asm volatile("dmb ishst" ::: "memory"); }
  static type all(double v) { return vdupq_n_f64(v); }
  static type plus(type a, type b) { return vaddq_f64(a, b); }
  static type times(type a, type b) { return vmulq_f64(a, b); }
  static type times_plus(type x, type m, type a) { return vfmaq_f64(a, x, m); }
};

// For the peak alone.
struct Single {
  using number = float;
  using type = float32x4_t;
  static constexpr unsigned lanes = 4;
  static constexpr unsigned busy_registers = 24;
  static type all(double v) { return vdupq_n_f32(static_cast<float>(v)); }
  static type times_plus(type x, type m, type a) { return vfmaq_f32(a, x, m); }
  static void store(number* at, type v) { vst1q_f32(at, v); }
};

constexpr Vectors all = vectors_of<Wide, Single>("neon");

}  // namespace

const Vectors* neon_vectors() { return &all; }

}  // namespace mpigauge::node
#else
#include "suites/node/vectors.hpp"

namespace mpigauge::node {
const Vectors* neon_vectors() { return nullptr; }
}  // namespace mpigauge::node
#endif

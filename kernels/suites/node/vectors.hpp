// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Loops over memory and in registers, made once for each set of instructions. What a processor
// cannot do is never called; a file per set holds them, compiled for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "suites/node/stream.hpp"

namespace mpigauge::node {

/// How a tuned loop goes over memory.
struct Manner {
  bool past_caches = false;  ///< stores that go around the caches (non-temporal)
  bool strips = false;       ///< four parts of the arrays side by side, not one after the other
};
constexpr std::size_t place_of(Manner manner) {
  return (manner.past_caches ? 2U : 0U) + (manner.strips ? 1U : 0U);
}
inline constexpr std::size_t strips_side_by_side = 4;

/// Rounds of x = x m + a in as many registers as keep the units busy; the sum of what they hold.
struct Peak {
  double (*run)(std::uint64_t rounds, double m, double a) = nullptr;
  unsigned numbers = 0;  ///< in all those registers: each takes part in 2 operations of a round
};

enum class Precision { double_, single };

struct Vectors {
  std::string_view name;
  std::array<Loop, stream_count> plain{};                 ///< as the compiler makes the simple loop
  std::array<std::array<Loop, 4>, stream_count> tuned{};  ///< by place_of(Manner)
  Peak peak;
  Peak single_peak;
  [[nodiscard]] constexpr Peak peak_in(Precision precision) const {
    return precision == Precision::single ? single_peak : peak;
  }
};

/// Null where this build has none.
const Vectors* generic_vectors();
const Vectors* sse2_vectors();
const Vectors* avx2_vectors();
const Vectors* avx512_vectors();
const Vectors* neon_vectors();
/// A number at a time, by the simplest instructions.
Peak scalar_peak(Precision precision);

/// Those that this processor has, the widest last; never empty. `most` leaves out what is wider:
/// baseline, avx2 or avx512; empty: nothing. Throws std::invalid_argument for any other.
std::vector<const Vectors*> vectors_up_to(std::string_view most);
/// The same up to what MPIGAUGE_ISA in the environment says.
const std::vector<const Vectors*>& vectors();
/// The one of this name among them; null: not here.
const Vectors* vectors(std::string_view name);
/// What compilers choose for a processor with these when they are told no more than -march=native:
/// the widest, but half of AVX-512 on Intel's (GCC, x86-tune.def: avx256_optimal).
std::string_view usual_among(const std::vector<const Vectors*>& all, bool of_intel);
/// That one for this processor.
const Vectors& usual_vectors();

}  // namespace mpigauge::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a core can compute from registers, for each set of instructions, and its clock.
#include <string>

#include "suites/node/arrays.hpp"

namespace mpigauge::node {
namespace {

constexpr std::uint64_t rounds = 2000;  // of a call
constexpr unsigned cycles = 3072;       // of a call that counts them

enum class Set { scalar, sse2, avx2, avx512, neon };
constexpr std::array words{"scalar", "sse2", "avx2", "avx512", "neon"};
constexpr const char* word(Set set) { return words.at(static_cast<std::size_t>(set)); }

Peak peak_of(Set set, Precision precision) {
  if (set == Set::scalar) return scalar_peak(precision);
  const Vectors* found = vectors(word(set));
  return found != nullptr ? found->peak_in(precision) : Peak{};
}

template <Set set, Precision precision>
double operations(const Shape& s) {
  return 2.0 * peak_of(set, precision).numbers * rounds * s.ranks;
}

// From 2 the numbers stay at 2, so it is seen whether each operation was done, and no number comes
// near those that processors treat slowly.
template <Set set, Precision precision>
void compute(Run& run) {
  const Peak peak = peak_of(set, precision);
  agree(run, peak.run != nullptr,
        std::string("this processor has no ") + word(set) +
            ", or MPIGAUGE_ISA in the environment leaves it out");
  if (peak.run == nullptr) return;  // which agree() has thrown for
  double sum = 0;
  const volatile double half = 0.5, one = 1.0;
  run.measure([&sum, peak, m = half, a = one](Turn) { sum = peak.run(rounds, m, a); });
  run.expect(sum == 2.0 * peak.numbers ? 0 : 1);
}

template <Set set, Precision precision>
constexpr Card card_of(std::string_view name, std::string_view about) {
  return {
      .suite = "NODE",
      .name = name,
      .about = about,
      .place = 200 + 10 * static_cast<int>(set) + (precision == Precision::single ? 5 : 0),
      .unit = Unit::none,
      .columns = Columns::rate,
      .send = nothing,
      .recv = nothing,
      .messages = operations<set, precision>,
      .may_refuse = true,
  };
}

template <Set set>
struct Both {
  Both(std::string_view name, std::string_view about, std::string_view single_name)
      : in_double(card_of<set, Precision::double_>(name, about), compute<set, Precision::double_>),
        in_single(card_of<set, Precision::single>(single_name, "The same in single precision."),
                  compute<set, Precision::single>) {}
  Add in_double, in_single;
};

const Both<Set::scalar> scalar("Peak_scalar",
                               "Multiplications and additions, one number at "
                               "a time; its rate is operations per second.",
                               "Peak_scalar_single");
#if defined(__x86_64__)
const Both<Set::sse2> sse2("Peak_sse2", "The same with 2 numbers at a time.", "Peak_sse2_single");
const Both<Set::avx2> avx2("Peak_avx2", "Fused, with 4 numbers at a time.", "Peak_avx2_single");
const Both<Set::avx512> avx512("Peak_avx512", "Fused, with 8 numbers at a time.",
                               "Peak_avx512_single");
#elif defined(__aarch64__)
const Both<Set::neon> neon("Peak_neon", "Fused, with 2 numbers at a time on Arm.",
                           "Peak_neon_single");
#endif

#if defined(__x86_64__)
constexpr bool counts_cycles = true;
// A multiplication takes 3 cycles on all x86 cores of the last fifteen years but the smallest. An
// addition of a constant would not do: newer cores do several at once before they start.
std::uint64_t multiply(std::uint64_t x, std::uint64_t by) {
  for (unsigned i = 0; i < cycles / 48; ++i) {
    asm volatile(".rept 16\n\timul %1, %0\n\t.endr" : "+r"(x) : "r"(by));
  }
  return x;
}
std::uint64_t flip(std::uint64_t x, std::uint64_t by) {
  for (unsigned i = 0; i < cycles / 64; ++i) {
    asm volatile(".rept 64\n\txor %1, %0\n\t.endr" : "+r"(x) : "r"(by));
  }
  return x;
}
#elif defined(__aarch64__)
constexpr bool counts_cycles = true;
std::uint64_t multiply(std::uint64_t x, std::uint64_t by) {
  for (unsigned i = 0; i < cycles / 48; ++i) {
    asm volatile(".rept 16\n\tmul %w0, %w0, %w1\n\t.endr" : "+r"(x) : "r"(by));
  }
  return x;
}
std::uint64_t flip(std::uint64_t x, std::uint64_t by) {
  for (unsigned i = 0; i < cycles / 64; ++i) {
    asm volatile(".rept 64\n\teor %0, %0, %1\n\t.endr" : "+r"(x) : "r"(by));
  }
  return x;
}
#else
constexpr bool counts_cycles = false;
std::uint64_t multiply(std::uint64_t x, std::uint64_t by) { return x * by; }
std::uint64_t flip(std::uint64_t x, std::uint64_t by) { return x ^ by; }
#endif

// Multiplied by 1, or flipped an even number of times: what came in comes out.
template <std::uint64_t (*chain)(std::uint64_t, std::uint64_t), std::uint64_t by>
void count(Run& run) {
  agree(run, counts_cycles, "how long an instruction takes on this processor is not known here");
  std::uint64_t x = 77;
  run.measure([&x](Turn) { x = chain(x, by); });
  run.expect(x == 77 ? 0 : 1);
}

constexpr Card multiplied_card{
    .suite = "NODE",
    .name = "Clock_multiply",
    .about = "A cycle of the core, from a chain of multiplications of 3 cycles each.",
    .place = 300,
    .unit = Unit::none,
    .columns = Columns::rate,
    .send = nothing,
    .recv = nothing,
    .messages = once,
    .may_refuse = true,
    .steps = cycles,
};
constexpr Card flipped_card = [] {
  Card card = multiplied_card;
  card.name = "Clock_xor";
  card.about =
      "A cycle of the core, from a chain of operations of 1 cycle each. Where the two "
      "disagree, neither is to be believed.";
  card.place = 310;
  return card;
}();

const Add multiplied(multiplied_card, count<multiply, 1>);
const Add flipped(flipped_card, count<flip, 12345>);

}  // namespace
}  // namespace mpigauge::node

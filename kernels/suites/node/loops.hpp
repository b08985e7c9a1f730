// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The loops of vectors.hpp, for any kind of register: a struct V with its type, the kind and number
// (lanes) of what it holds, load, store, and so on; and Single, of single precision, which needs
// only what the peak does. For files that are
// compiled for one set of instructions. Everything is in an unnamed namespace and nothing of the
// library is used that has code: else the linker could take code for a newer processor where others
// call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "suites/node/plain.hpp"
#include "suites/node/vectors.hpp"

namespace mpigauge::node {
namespace {  // NOLINT(misc-anonymous-namespace-in-header): each file has its own code

// Makes the compiler forget what a register holds.
template <class Register>
void hide(Register& v) {
#if defined(__AVX512F__)
  asm("" : "+v"(v));
#elif defined(__x86_64__)
  asm("" : "+x"(v));
#elif defined(__aarch64__)
  asm("" : "+w"(v));
#else
  asm("" : "+m"(v));
#endif
}

// Of the few numbers in a register, once behind a loop.
template <class V>
double sum_of(typename V::type v) {
  typename V::number parts[V::lanes];
  V::store(parts, v);
  double total = 0;
  for (const auto part : parts) total += static_cast<double>(part);
  return total;
}

template <class V, Stream what>
[[gnu::always_inline]] inline V::type value(const double* x, const double* y, const double* z,
                                            typename V::type s) {
  if constexpr (what == Stream::write) return s;
  if constexpr (what == Stream::copy || what == Stream::read) return V::load(y);
  if constexpr (what == Stream::scale) return V::times(s, V::load(y));
  if constexpr (what == Stream::add) return V::plus(V::load(y), V::load(z));
  if constexpr (what == Stream::triad) return V::plus(V::load(y), V::times(s, V::load(z)));
  if constexpr (what == Stream::update) return V::times(s, V::load(x));
  if constexpr (what == Stream::dot) return V::times(V::load(y), V::load(z));
}

// A line of each strip in turn. x must start at a line; what does not fill a line of every strip is
// left to the simple loop.
template <class V, Stream what, bool past_caches, std::size_t strips>
double tuned(double* x, const double* y, const double* z, std::size_t n, double s) {
  constexpr std::size_t per_line = line / V::lanes;
  const std::size_t strip = n / (line * strips) * line;
  const auto factor = V::all(s);
  typename V::type sum[per_line];
  for (auto& part : sum) part = V::all(0);
  for (std::size_t i = 0; i < strip; i += line) {
#pragma GCC unroll 4
    for (std::size_t k = 0; k < strips; ++k) {
#pragma GCC unroll 8
      for (std::size_t j = 0; j < per_line; ++j) {
        const std::size_t at = k * strip + i + j * V::lanes;
        const auto v = value<V, what>(x + at, y + at, z + at, factor);
        if constexpr (only_reads(what)) sum[j] = V::plus(sum[j], v);
        else if constexpr (past_caches) V::store_past_caches(x + at, v);
        else V::store(x + at, v);
      }
    }
  }
  if constexpr (past_caches) V::finish_stores();
  const std::size_t done = strip * strips;
  const double rest = plain<what>(x + done, y + done, z + done, n - done, s);
  if constexpr (!only_reads(what)) return rest;
  double total = rest;
  for (const auto& part : sum) total += sum_of<V>(part);
  return total;
}

template <class V, Stream what>
constexpr std::array<Loop, 4> manners() {
  constexpr bool stores = !only_reads(what);
  return {tuned<V, what, false, 1>, tuned<V, what, false, strips_side_by_side>,
          tuned<V, what, stores, 1>, tuned<V, what, stores, strips_side_by_side>};
}

// Each register is a parameter, not a place in an array, so that it stays one; and the compiler is
// not told that they hold the same.
template <class V, class... Register>
double busy(std::uint64_t rounds, double m, double a, Register... x) {
  (hide(x), ...);
  const auto factor = V::all(m), more = V::all(a);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    ((x = V::times_plus(x, factor, more)), ...);
  }
  return (sum_of<V>(x) + ...);
}

template <class V, std::size_t... i>
double busy(std::uint64_t rounds, double m, double a, std::index_sequence<i...> /*of registers*/) {
  return busy<V>(rounds, m, a, (static_cast<void>(i), V::all(2))...);
}

template <class V>
double peak(std::uint64_t rounds, double m, double a) {
  return busy<V>(rounds, m, a, std::make_index_sequence<V::busy_registers>());
}

template <class V>
constexpr Peak peak_of() {
  return {peak<V>, V::lanes * V::busy_registers};
}

template <class V, class Single, std::size_t... i>
constexpr Vectors vectors_of(std::string_view name, std::index_sequence<i...> /*of streams*/) {
  return {.name = name,
          .plain = {plain<static_cast<Stream>(i)>...},
          .tuned = {manners<V, static_cast<Stream>(i)>()...},
          .peak = peak_of<V>(),
          .single_peak = peak_of<Single>()};
}

template <class V, class Single>
constexpr Vectors vectors_of(std::string_view name) {
  return vectors_of<V, Single>(name, std::make_index_sequence<stream_count>());
}

}  // namespace
}  // namespace mpigauge::node

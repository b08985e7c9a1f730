// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The simple loops, for files that are compiled for one set of instructions, or by one compiler.
// As in loops.hpp, nothing of the library is used that has code.
#pragma once

#include <cstddef>

#include "suites/node/stream.hpp"

namespace mpigauge::node {
namespace {  // NOLINT(misc-anonymous-namespace-in-header): each file has its own code

constexpr std::size_t line = 8;  // numbers of a cache line

constexpr bool only_reads(Stream what) { return what == Stream::read || what == Stream::dot; }

// Eight sums in turn, which compilers can keep in registers; sums of integers are exact in any
// order.
template <Stream what>
double plain_sum(const double* __restrict y, const double* __restrict z, std::size_t n) {
  double sums[line] = {};
  const std::size_t whole = n / line * line;
  const auto term = [=](std::size_t i) { return what == Stream::read ? y[i] : y[i] * z[i]; };
  for (std::size_t i = 0; i < whole; i += line) {
    for (std::size_t j = 0; j < line; ++j) sums[j] += term(i + j);
  }
  double sum = 0;
  for (const double part : sums) sum += part;
  for (std::size_t i = whole; i < n; ++i) sum += term(i);
  return sum;
}

template <Stream what>
double plain(double* __restrict x, const double* __restrict y, const double* __restrict z,
             std::size_t n, double s) {
  if constexpr (only_reads(what)) return plain_sum<what>(y, z, n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (what == Stream::write) x[i] = s;
    if constexpr (what == Stream::copy) x[i] = y[i];
    if constexpr (what == Stream::scale) x[i] = s * y[i];
    if constexpr (what == Stream::add) x[i] = y[i] + z[i];
    if constexpr (what == Stream::triad) x[i] = y[i] + s * z[i];
    if constexpr (what == Stream::update) x[i] = s * x[i];
  }
  return 0;
}

}  // namespace
}  // namespace mpigauge::node

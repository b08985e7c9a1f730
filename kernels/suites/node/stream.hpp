// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What can be done with three arrays of numbers. Other compilers than ours read this, too.
#pragma once

#include <cstddef>

namespace mpigauge::node {

/// What is done with n numbers of x (written), y and z (read).
enum class Stream {
  read,    ///< sum of y
  write,   ///< x = s
  copy,    ///< x = y
  scale,   ///< x = s y
  add,     ///< x = y + z
  triad,   ///< x = y + s z
  update,  ///< x = s x
  dot,     ///< sum of y z
};
inline constexpr std::size_t stream_count = 8;
constexpr std::size_t place_of(Stream stream) { return static_cast<std::size_t>(stream); }

/// Gives the sum, 0 where there is none.
using Loop = double (*)(double* x, const double* y, const double* z, std::size_t n, double s);

}  // namespace mpigauge::node

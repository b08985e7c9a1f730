// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The loops of memory benchmarks as everybody writes them, for bench/node_memory.py, which compiles
// this file twice: for the instructions that our plain loops use, and for all that there are.
#include <cstddef>

namespace BY_HAND {

void scale(double* __restrict x, const double* __restrict y, std::size_t n, double s) {
  for (std::size_t i = 0; i < n; ++i) x[i] = s * y[i];
}

void add(double* __restrict x, const double* __restrict y, const double* __restrict z,
         std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = y[i] + z[i];
}

void triad(double* __restrict x, const double* __restrict y, const double* __restrict z,
           std::size_t n, double s) {
  for (std::size_t i = 0; i < n; ++i) x[i] = y[i] + s * z[i];
}

}  // namespace BY_HAND

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
// CHECK(condition) prints a condition that does not hold, and counts it.
#pragma once

#include <cstdio>

namespace mpigauge::profile::tests {

inline int failures = 0;

inline void check(bool holds, const char* text, int line) {
  if (holds) return;
  ++failures;
  std::printf("line %d: does not hold: %s\n", line, text);
}

}  // namespace mpigauge::profile::tests

#define CHECK(...) mpigauge::profile::tests::check(__VA_ARGS__, #__VA_ARGS__, __LINE__)

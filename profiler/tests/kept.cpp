// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Prints which calls are kept on the first levels: a line each, with the level and the numbers
// below 4096. A test compares it with what Python draws.
#include <cstdio>

#include "instances.hpp"

int main() {
  for (std::uint32_t level = 0; level < 8; ++level) {
    std::printf("%u", level);
    for (std::uint64_t block = 0; (block << level) < 4096; ++block) {
      std::printf(" %llu",
                  static_cast<unsigned long long>(mpigauge::profile::kept_of(block, level)));
    }
    std::printf("\n");
  }
}

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/turns.hpp"

namespace mpigauge {

// The first round goes 0, 1, n - 1, 2, n - 2 and so on, so that steps of all lengths are in it
// once; the others are the same from another beginning, and backwards in every other square.
std::size_t whose_turn(std::size_t turn, std::size_t round, std::size_t many) {
  const bool backwards = many % 2 == 1 && round / many % 2 == 1;
  const std::size_t k = backwards ? many - 1 - turn : turn;
  const std::size_t first = k % 2 == 1 ? (k + 1) / 2 : many - k / 2;
  return (first + round) % many;
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Ranks as points of a periodic grid, and the exchange of a message with each neighbour on it.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/run.hpp"

namespace mpigauge {

/// Sides of the plane or volume that a stencil of IMB takes for so many ranks; none where a side
/// would be 1.
std::vector<int> stencil_sides(int ranks, int dimensions);
/// Sides of a grid of all ranks in up to three dimensions, as even as they can be, without sides
/// of 1 (but for a single rank).
std::vector<int> even_sides(int ranks);
int points_of(const std::vector<int>& sides);

/// The grid that IMB-HALO makes of the sides that it is given: their proportions without a common
/// divisor, multiplied by the largest number for which so many ranks are enough. It may leave ranks
/// out, and need more than there are where the proportions alone do.
std::vector<int> halo_sides(const std::vector<int>& proportions, int ranks);

/// Neighbours of a rank, the last dimension running fastest: in each dimension the one before and
/// the one behind it. Along a side of one a rank has none but itself, which does not count.
std::vector<int> neighbours_on(const std::vector<int>& sides, int rank);
/// How many that are.
int faces_of(const std::vector<int>& sides);

/// Reads and writes the cache lines of messages, as a program does that works on them.
class Touch {
 public:
  Touch(bool writes, bool reads) : writes_(writes), reads_(reads) {}
  /// Writes a byte of each line, the one that is there.
  void sent(const Message& m, std::size_t bytes) const {
    if (!writes_) return;
    for (std::size_t i = 0; i < bytes; i += line) {
      volatile char* byte = static_cast<char*>(m.data) + i;
      *byte = *byte;
    }
  }
  /// Reads a byte of each line.
  void received(const Message& m, std::size_t bytes) const {
    if (!reads_) return;
    for (std::size_t i = 0; i < bytes; i += line) {
      static_cast<void>(*static_cast<const volatile char*>(static_cast<const char*>(m.data) + i));
    }
  }

 private:
  static constexpr std::size_t line = 64;
  bool writes_;
  bool reads_;
};

/// Times an exchange with all neighbours: a message for each and one from each, with buffers of as
/// many messages. Says how many bytes came wrong.
void exchange_on(Run& run, const std::vector<int>& sides, const Touch& touch);

}  // namespace mpigauge

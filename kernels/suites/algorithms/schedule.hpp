// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Algorithms of collectives as their schedules describe them: src/mpigauge/schedules explains the
// terms, and table.cpp is made from it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace mpigauge::schedules {

using Number = std::int64_t;

/// What expressions depend on.
struct Symbols {
  Number rank = 0, ranks = 1, round = 0, lane = 0, piece = 0, node_ranks = 1, segments = 1;
};

/// A piece of a message, and whether there is one.
struct Sent {
  bool is_sent = false;    ///< there is a message
  bool has_piece = false;  ///< the message has this piece
  Number to = 0;
  Number first = 0;  ///< chunk in the vector of the source
  Number into = 0;   ///< chunk in the vector of the target
  Number count = 0;  ///< of chunks
};

enum class Alike { nothing, pattern, shift };
enum class Kind { message, copy };

struct Phase {
  Number (*rounds)(const Symbols&);
  Number (*chunks)(const Symbols&);
  Number (*senders)(const Symbols&);
  Number (*lanes)(const Symbols&);
  Number (*pieces)(const Symbols&);
  Sent (*sent)(const Symbols&);
  Alike alike;
  Kind kind;
  bool reduces;
  bool overlaps;
};

struct Operation {
  std::string_view name;
  int spaces;
  bool reduces;
  bool has_root;
  bool has_block_per_rank;
  bool moves_data;
  bool rotates_blocks;
};

struct Algorithm {
  const Operation* operation;
  std::string_view name;
  std::string_view about;
  std::span<const Phase* const> phases;
  bool is_on_nodes;  ///< depends on how ranks are placed, and lets the root swap with rank 0
  bool combines;     ///< a message may have the blocks of several ranks
};

std::span<const Operation> operations();
std::span<const Algorithm> algorithms();

/// The size of a segment of algorithms that send segments.
extern const std::size_t segment_bytes;

// --- functions of expressions, as numpy has them ------------------------------------------
constexpr Number quotient(Number a, Number b) {
  if (b == 0) return 0;
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
constexpr Number modulo(Number a, Number b) { return b == 0 ? 0 : a - quotient(a, b) * b; }
constexpr Number shifted(Number a, Number bits) { return bits < 0 || bits > 62 ? 0 : a << bits; }
constexpr Number shifted_back(Number a, Number bits) {
  return bits < 0 || bits > 62 ? 0 : a >> bits;
}
constexpr Number choose(Number condition, Number yes, Number no) {
  return condition != 0 ? yes : no;
}
constexpr Number floor_log2(Number a) {
  return static_cast<Number>(std::bit_width(static_cast<std::uint64_t>(std::max<Number>(a, 1)))) -
         1;
}
constexpr Number reversed_bits(Number a, Number bits) {
  Number result = 0;
  for (Number bit = 0; bit < bits; ++bit) result |= shifted((a >> bit) & 1, bits - 1 - bit);
  return result;
}

}  // namespace mpigauge::schedules

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What one rank does in a collective: the part of a schedule that is its own, with all places and
// counts known, so that a timed call is little more than its messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "suites/algorithms/schedule.hpp"

namespace mpigauge::schedules {

/// What a program depends on.
struct Call {
  int rank = 0;
  int ranks = 1;
  int root = 0;
  int node_ranks = 1;     ///< ranks that algorithms with leaders take for a node
  std::size_t bytes = 0;  ///< of a message
  std::size_t element_bytes = 1;
  auto operator<=>(const Call&) const = default;
};

/// Memory of a rank: what the benchmark gives, the vector of ranks that get more than their result,
/// and room for what is reduced or packed.
enum class Space : std::uint8_t { send, recv, vector, stage };
constexpr std::size_t space_count = 4;

struct Place {
  Space space = Space::send;
  std::size_t at = 0;
};

struct Transfer {
  Place place;
  int count = 0;  ///< of elements
  int peer = 0;
};

struct Copy {
  Place from, to;
  std::size_t bytes = 0;
};

struct Reduction {
  Place from, to;
  int count = 0;  ///< of elements
};

/// What a rank writes into memory that it shares, for so many ranks, as step `step` of a call.
struct Published {
  Place from;
  std::size_t bytes = 0;
  unsigned readers = 0;
  unsigned step = 0;
};

/// What a rank reads from the memory of another.
struct Read {
  Place to;
  std::size_t bytes = 0;
  int count = 0;
  int peer = 0;
  unsigned step = 0;
  bool reduces = false;
};

/// All that a rank does in one round: it packs, sends and receives at once, then unpacks and
/// reduces.
struct Round {
  std::vector<Copy> packed;
  std::vector<Transfer> sent;
  std::vector<Transfer> received;
  std::vector<Copy> unpacked;
  std::vector<Reduction> reduced;
  std::vector<Published> published;
  std::vector<Read> read;
};

struct Program {
  std::vector<Copy> before;
  std::vector<Round> rounds;
  std::vector<Copy> after;
  std::size_t vector_bytes = 0;
  std::size_t stage_bytes = 0;
  std::size_t most_requests = 0;
  std::size_t shared_bytes = 0;  ///< of the memory that this rank publishes in
  unsigned steps = 0;            ///< in shared memory, of all ranks together
  bool is_made = false;
};

/// The program of a rank.
Program program_of(const Algorithm& algorithm, const Call& call);

}  // namespace mpigauge::schedules

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// IMB's arithmetic of repetitions, apart from any clock and any MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/card.hpp"

namespace mpigauge {

/// How repetitions follow from the size of a message.
enum class Policy {
  dynamic,      ///< by volume, cut by time
  multiple_np,  ///< multiples of the number of ranks, by size
  automatic,    ///< multiple_np where there is a root, else dynamic
  off,          ///< the same for all
};

/// What IMB lets its users set of its schedule.
struct Schedule {
  std::int64_t repetitions = 1000;
  std::int64_t seldom = 100;                 ///< of rows that complete each call, and of slow ones
  double volume_bytes = 40.0 * (1U << 20U);  ///< of all repetitions of a row
  Policy policy = Policy::dynamic;
  double row_seconds = 10;
  double table_seconds = 0;  ///< 0: a table takes as long as it takes
  double memory_bytes = 0;   ///< of a rank's buffers; 0: what is free
  double largest_bytes = 4.0 * (1U << 20U);
  bool user_sizes = false;  ///< sizes are in any order
  bool warm_up = true;
  bool pause = false;           ///< after each row
  bool own_barriers = false;    ///< all barriers are our own
  bool stops_at_limit = false;  ///< the first row that cannot be had ends its benchmark
};

/// What of a row its repetitions depend on.
struct RowFacts {
  std::size_t bytes = 0;
  int ranks = 1;
  bool rooted = false;
  bool sized = true;    ///< false: a barrier or the like
  bool seldom = false;  ///< counts as one that completes each call
};
RowFacts facts_of_row(const Card& card, const Shape& shape, Completion completion);

/// Repetitions of the rows of one table.
class Repetitions {
 public:
  explicit Repetitions(const Schedule& schedule) : schedule_(schedule) {}

  /// Repetitions before any time is known.
  [[nodiscard]] std::int64_t wanted(const RowFacts& row) const;
  /// Whether the volume and the time that they take may cut them.
  [[nodiscard]] bool adapts(const RowFacts& row) const;
  /// How many calls to try to learn how long one takes, when one alone took `first_s`.
  [[nodiscard]] static std::int64_t trial(std::int64_t wanted, double first_s);
  /// What is left of them when a call takes `call_s`, and after the rows before; to be noted.
  [[nodiscard]] std::int64_t cut(const RowFacts& row, double call_s) const;
  /// The row was repeated so often.
  void note(const RowFacts& row, std::int64_t repetitions);
  /// Untimed calls before the timed ones.
  [[nodiscard]] std::int64_t warm_up(std::int64_t repetitions) const;

 private:
  struct Done {
    std::size_t bytes = 0;
    std::int64_t repetitions = 0;
  };
  Schedule schedule_;
  std::vector<Done> done_;
};

}  // namespace mpigauge

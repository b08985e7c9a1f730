// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The ways of sending messages between two ranks, or round a ring, that several suites have: MPI1
// on one thread, MT on many.
#pragma once

#include <span>

#include "core/run.hpp"

namespace mpigauge {

/// A rank and the one that it works with.
struct Pair {
  int peer = -1;
  bool lower = false;  ///< of the two, the one that begins
  [[nodiscard]] bool exists() const { return peer >= 0; }
};

/// Ranks 0 and 1.
Pair first_pair(const Run& run);
/// Half of the ranks away.
Pair pair_of_halves(const Run& run);

/// One message to the peer and one back; receives name the source or take any.
enum class Source { peer, any };
void ping_pong(Run& run, const Pair& pair, Source source = Source::peer);
/// Both send at the same time.
void ping_ping(Run& run, const Pair& pair, Source source = Source::peer);
/// Each rank sends to the right and receives from the left.
void ring(Run& run);

/// The neighbours of a rank on the ring.
struct Neighbours {
  int left, right;
};
Neighbours neighbours_of(const Run& run);
/// Each rank exchanges messages with both neighbours: what goes to the left stands behind what goes
/// to the right. Times it, and leaves the check to the caller.
void exchange(Run& run, const Block& from_left, const Block& from_right);

/// Messages of a window: all from the same place, or each from its own where data are fresh.
class Outgoing {
 public:
  explicit Outgoing(Run& run);
  /// Starts a send for each of the requests.
  void start(Turn turn, int to, MPI_Comm comm, std::span<MPI_Request> requests) const;

 private:
  Block first_;
  std::size_t step_;
};

/// The lower rank of the pair sends --inflight messages at once, the upper one says when it has
/// them all.
void one_way(Run& run, const Pair& pair);
/// Both send --inflight messages at once.
void both_ways(Run& run, const Pair& pair);

}  // namespace mpigauge

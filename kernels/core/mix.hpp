// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a program did with MPI, as its profile has it: so many calls of each kind in one iteration,
// with computation between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/words.hpp"

namespace mpigauge {

/// What a step of the mix calls; messages between two ranks in three ways.
enum class MixedCall {
  barrier,
  bcast,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  sendrecv,
  send,        ///< MPI_Send, and MPI_Recv on the other side
  posted,      ///< MPI_Irecv before MPI_Send, then MPI_Wait
  nonblocking  ///< MPI_Irecv and MPI_Isend of all messages, then MPI_Waitall
};

/// A message of one step, by ranks of the program.
struct MixedMessage {
  int from = 0;
  int to = 0;
};

/// Calls that are alike.
struct MixedStep {
  MixedCall call = MixedCall::barrier;
  std::size_t bytes = 0;    ///< of a message, as the benchmark of that name has it
  std::size_t group = 0;    ///< which of Mix::groups()
  int root = 0;             ///< in each communicator of the group
  std::uint32_t times = 1;  ///< in an iteration
  int window = 1;           ///< so many of each message before a wait
  std::vector<MixedMessage> messages;
  /// How much later than the first one each rank comes, in seconds, call by call; none: together.
  std::vector<std::vector<double>> lateness;

  [[nodiscard]] bool has_messages() const { return call >= MixedCall::sendrecv; }
};

/// Communicators that have no rank in common: the members of each, in their order there.
using MixedGroup = std::vector<std::vector<int>>;

class Mix {
 public:
  /// Nothing to replay.
  Mix() = default;
  /// NAME=RANKS;GROUPS;GAPS;STEPS;LATENESS, as "heat=2;0+1;5+7.5;allreduce:8:0:0:3;0:0+5_3+0":
  ///   GROUPS    with / between them; of each its communicators with _ between
  ///   GAPS      microseconds of computation before each step, by rank
  ///   STEPS     with / between: call:bytes:group:root:times, of messages also :window:from-to+…
  ///   LATENESS  with / between: the number of a step, then microseconds by rank, call by call
  /// Throws std::invalid_argument with the reason.
  static Mix read(const std::string& text);

  [[nodiscard]] bool empty() const { return steps_.empty(); }
  /// That of the profile.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// Why so many ranks cannot replay it; empty: they can.
  [[nodiscard]] std::string excuse(int ranks) const;
  [[nodiscard]] const std::vector<MixedGroup>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<MixedStep>& steps() const { return steps_; }
  /// Seconds of computation before each step, by rank.
  [[nodiscard]] const std::vector<double>& gaps_s() const { return gaps_s_; }
  /// The steps of an iteration, by number, each evenly spread over it.
  [[nodiscard]] std::vector<std::size_t> order() const;
  /// Bytes that a rank sends, and receives, in a step at most; of the first whole cache lines.
  [[nodiscard]] std::size_t most_sent() const;
  [[nodiscard]] std::size_t most_received() const;

 private:
  void read_groups(std::string_view text);
  void read_steps(std::string_view text);
  void read_lateness(std::string_view text);
  [[nodiscard]] int read_rank(std::string_view text) const;
  [[nodiscard]] std::vector<double> read_times(std::string_view text) const;

  std::string name_;
  int ranks_ = 0;
  std::vector<MixedGroup> groups_;
  std::vector<double> gaps_s_;
  std::vector<MixedStep> steps_;
};

/// Its name, by which cells are told apart.
std::string option_text(const Mix& mix);

}  // namespace mpigauge

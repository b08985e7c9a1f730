// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Process groups as IMB forms them, and which numbers of ranks a benchmark runs on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/card.hpp"
#include "core/mpi.hpp"
#include "core/pairs.hpp"

namespace mpigauge {

enum class Multi { off, together, apart };

/// Order of world ranks when they are laid out as a grid of `rows` x `columns` and read down the
/// columns; the identity when either is below 2.
struct Grid {
  int rows = 1;
  int columns = 1;
};
/// Position of a world rank in that order.
int position(int world_rank, Grid grid);

/// Numbers of ranks for a kind of benchmark: start at `least`, double, end with all of them.
std::vector<int> group_sizes(Ranks kind, int least, int world_ranks);
/// Sides of a grid of so many ranks, as even as they can be, the smallest first; a side is 1 where
/// the number has too few factors.
std::vector<int> factors(int ranks, int sides);
/// Sides as text: 2x3.
std::string format_sides(const std::vector<int>& sides);
/// Whether a kind of benchmark can run on so many ranks.
bool can_run_on(Ranks kind, int ranks);

/// How many groups of so many ranks there are at the same time.
int count_groups(int ranks, int world_ranks, Multi multi);

/// Which ranks a row is about.
struct Whose {
  int groups = 1;            ///< that run at the same time
  int group = -1;            ///< -1: all of them together
  std::string_view members;  ///< ranks of the world, where the number of the group does not tell
};

/// One of several groups of ranks that do the same at the same time; the rest is idle.
class Groups {
 public:
  /// All ranks of the world together.
  Groups(int ranks, int world_ranks, int world_rank, Multi multi, Grid grid);
  /// A pair in each group: that of this rank, or none where it rests; those that rest take part in
  /// nothing. A round of one pair makes a communicator of two ranks of `together`, and others split
  /// the world.
  Groups(const Rounds& rounds, std::uint64_t round, int world_rank, MPI_Comm together);
  /// The same with all ranks in `together`, in which who rests takes part in what all of them
  /// decide. `addressed`: there two find each other by their ranks; else each pair makes a
  /// communicator of its own.
  Groups(const Rounds& rounds, std::uint64_t round, int world_rank, MPI_Comm together,
         bool addressed);
  ~Groups();
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  [[nodiscard]] bool member() const { return index_ >= 0; }
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] int groups() const { return groups_; }
  /// Ranks of the own group; of a rank that rests among all ranks, itself.
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  /// Ranks of all groups; its rank 0 is rank 0 of the world, or the first of the first pair.
  [[nodiscard]] MPI_Comm active() const { return active_; }

  /// Own rank in the own group, and how many ranks that has; -1 and 0 for those that rest.
  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// Ranks of comm() that are ranks 0 and 1 of the pair; null: the group has it for itself.
  [[nodiscard]] const PairAddresses* addresses() const {
    return by_address_ ? &addresses_ : nullptr;
  }
  /// Combines values of the ranks of the own group on its rank 0.
  void reduce(std::vector<std::int64_t>& values, MPI_Op op) const;
  /// The round of pairs, and where these follow from its number, by which schedule.
  [[nodiscard]] std::uint64_t round() const { return round_; }
  [[nodiscard]] std::string_view pairing() const { return pairing_; }

  [[nodiscard]] Whose all_groups() const { return {groups_, -1, {}}; }
  [[nodiscard]] Whose own_group() const { return {groups_, index_, members_}; }

 private:
  void take_seat(const Rounds& rounds, std::uint64_t round, int world_rank);
  void split(int place);
  void make_pair(MPI_Comm together, int world_rank);
  bool by_address_ = false;
  PairAddresses addresses_{};
  std::uint64_t round_ = 0;
  std::string_view pairing_;
  int groups_ = 1;
  int index_ = -1;
  std::string members_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm active_ = MPI_COMM_NULL;
  std::vector<MPI_Comm> made_;  ///< to be freed
};

}  // namespace mpigauge

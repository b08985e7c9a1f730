// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <algorithm>

#include "core/groups.hpp"
#include "tests/check.hpp"

using namespace mpigauge;

namespace {

// World ranks in the order of their positions.
std::vector<int> order(int ranks, Grid grid) {
  std::vector<int> ordered(static_cast<std::size_t>(ranks), -1);
  for (int rank = 0; rank < ranks; ++rank) {
    ordered[static_cast<std::size_t>(position(rank, grid))] = rank;
  }
  return ordered;
}

using Sizes = std::vector<int>;

}  // namespace

TEST(a_grid_is_read_down_its_columns) {
  CHECK_EQ(order(6, {3, 2}), (Sizes{0, 3, 1, 4, 2, 5}));  // as IMB prints it for -map 3x2
  CHECK_EQ(order(4, {2, 2}), (Sizes{0, 2, 1, 3}));
  CHECK_EQ(order(6, {2, 3}), (Sizes{0, 2, 4, 1, 3, 5}));
}

TEST(ranks_behind_the_grid_stay) { CHECK_EQ(order(8, {3, 2}), (Sizes{0, 3, 1, 4, 2, 5, 6, 7})); }

TEST(a_line_is_no_grid) {
  for (const Grid grid : {Grid{1, 1}, Grid{6, 1}, Grid{1, 6}}) {
    CHECK_EQ(order(6, grid), (Sizes{0, 1, 2, 3, 4, 5}));
  }
}

TEST(positions_are_a_permutation) {
  for (int rows = 2; rows <= 9; ++rows) {
    for (int columns = 2; columns <= 9; ++columns) {
      auto sorted = order(rows * columns, {rows, columns});
      std::sort(sorted.begin(), sorted.end());
      for (int i = 0; i < rows * columns; ++i) CHECK_EQ(sorted[static_cast<std::size_t>(i)], i);
    }
  }
}

TEST(positions_of_many_ranks_do_not_overflow) {
  constexpr int side = 40000;
  CHECK_EQ(position(side, {side, side}), 1);
  CHECK_EQ(position(1, {side, side}), side);
}

TEST(groups_double_and_end_with_all) {
  CHECK_EQ(group_sizes(Ranks::any, 2, 1), (Sizes{1}));
  CHECK_EQ(group_sizes(Ranks::any, 2, 2), (Sizes{2}));
  CHECK_EQ(group_sizes(Ranks::any, 2, 3), (Sizes{2, 3}));
  CHECK_EQ(group_sizes(Ranks::any, 2, 4), (Sizes{2, 4}));
  CHECK_EQ(group_sizes(Ranks::any, 2, 6), (Sizes{2, 4, 6}));
  CHECK_EQ(group_sizes(Ranks::any, 1, 4), (Sizes{1, 2, 4}));
  CHECK_EQ(group_sizes(Ranks::any, 3, 4), (Sizes{3, 4}));
  CHECK_EQ(group_sizes(Ranks::any, 9, 4), (Sizes{4}));
}

TEST(one_rank_is_one_group_in_any_world) {
  for (const int world : {1, 2, 6}) CHECK_EQ(group_sizes(Ranks::one, 2, world), (Sizes{1}));
}

TEST(pairs_are_two_and_two) {
  for (const int world : {2, 3, 4, 6}) CHECK_EQ(group_sizes(Ranks::pair, 4, world), (Sizes{2}));
  CHECK_EQ(group_sizes(Ranks::pairs, 2, 3), (Sizes{2}));
  CHECK_EQ(group_sizes(Ranks::pairs, 3, 6), (Sizes{4, 6}));
  CHECK_EQ(group_sizes(Ranks::pairs, 2, 7), (Sizes{2, 4, 6}));
}

TEST(one_rank_is_no_pair_but_is_told_so) {
  for (const Ranks kind : {Ranks::pair, Ranks::pairs}) {
    CHECK_EQ(group_sizes(kind, 2, 1), (Sizes{1}));
    CHECK(!can_run_on(kind, 1));
  }
}

TEST(kinds_of_benchmarks_know_their_ranks) {
  CHECK(can_run_on(Ranks::one, 1) && !can_run_on(Ranks::one, 2));
  CHECK(can_run_on(Ranks::plane, 4) && !can_run_on(Ranks::plane, 3));
  CHECK(can_run_on(Ranks::volume, 8) && !can_run_on(Ranks::volume, 4));
  CHECK(can_run_on(Ranks::pair, 2) && !can_run_on(Ranks::pair, 4));
  CHECK(can_run_on(Ranks::pairs, 4) && !can_run_on(Ranks::pairs, 3));
  CHECK(can_run_on(Ranks::any, 1) && can_run_on(Ranks::any, 3));
  CHECK(!can_run_on(Ranks::any, 0));
}

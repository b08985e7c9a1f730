// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/groups.hpp"

#include <algorithm>
#include <cmath>

namespace mpigauge {

int position(int world_rank, Grid grid) {
  const long cells = static_cast<long>(grid.rows) * grid.columns;
  if (grid.rows < 2 || grid.columns < 2 || world_rank >= cells) return world_rank;
  const long transposed = static_cast<long>(grid.columns) * world_rank % (cells - 1);
  return transposed == 0 ? world_rank : static_cast<int>(transposed);
}

// Of all ways to write the number as a product the one with the largest smallest side, and of
// those the one with the smallest largest.
std::vector<int> factors(int ranks, int sides) {
  if (sides == 1) return {ranks};
  std::vector<int> best;
  for (int side = 1; std::pow(side, sides) <= ranks + 0.5; ++side) {
    if (ranks % side != 0) continue;
    auto grid = factors(ranks / side, sides - 1);
    if (grid.front() < side) continue;
    grid.insert(grid.begin(), side);
    const bool better = best.empty() || grid.front() > best.front() ||
                        (grid.front() == best.front() && grid.back() < best.back());
    if (better) best = grid;
  }
  return best;
}

std::string format_sides(const std::vector<int>& sides) {
  std::string text;
  for (const int side : sides) text += (text.empty() ? "" : "x") + std::to_string(side);
  return text;
}

bool can_run_on(Ranks kind, int ranks) {
  switch (kind) {
    case Ranks::one: return ranks == 1;
    case Ranks::pair: return ranks == 2;
    case Ranks::pairs: return ranks >= 2 && ranks % 2 == 0;
    case Ranks::several: return ranks >= 2;
    case Ranks::plane: return factors(ranks, 2).front() >= 2;
    case Ranks::volume: return factors(ranks, 3).front() >= 2;
    case Ranks::any: break;
  }
  return ranks >= 1;
}

std::vector<int> group_sizes(Ranks kind, int least, int world_ranks) {
  if (kind == Ranks::one) return {1};
  if (kind == Ranks::pair) return {std::min(2, world_ranks)};
  const bool even = kind == Ranks::pairs;
  const int most = even ? world_ranks / 2 * 2 : world_ranks;
  if (most == 0) return {world_ranks};
  std::vector<int> sizes;
  const int start = std::min(even ? (least + 1) / 2 * 2 : least, most);
  for (int n = std::max(start, 1); n < most; n *= 2) sizes.push_back(n);
  sizes.push_back(most);
  return sizes;
}

Groups::Groups(int ranks, int world_ranks, int world_rank, Multi multi, Grid grid) {
  groups_ = multi == Multi::off ? 1 : std::max(1, world_ranks / ranks);
  const int place = position(world_rank, grid);
  index_ = place < groups_ * ranks ? place / ranks : -1;
  split(place);
}

Groups::Groups(const PairRound& round, int world_rank) : groups_(static_cast<int>(round.size())) {
  int place = 0;
  for (std::size_t pair = 0; pair < round.size(); ++pair) {
    const auto [first, second] = round[pair];
    if (world_rank != first && world_rank != second) continue;
    index_ = static_cast<int>(pair);
    place = 2 * index_ + (world_rank == second ? 1 : 0);
    members_ = std::to_string(first) + ',' + std::to_string(second);
  }
  split(place);
}

void Groups::split(int place) {
  const int colour = member() ? 0 : MPI_UNDEFINED;
  call(MPI_Comm_split(MPI_COMM_WORLD, colour, place, &active_));
  call(MPI_Comm_split(MPI_COMM_WORLD, member() ? index_ : MPI_UNDEFINED, place, &comm_));
  for (const MPI_Comm comm : {active_, comm_}) {
    if (comm != MPI_COMM_NULL) return_errors(comm);
  }
}

Groups::~Groups() {
  for (MPI_Comm* comm : {&active_, &comm_}) {
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
  }
}

}  // namespace mpigauge

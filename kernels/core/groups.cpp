// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/groups.hpp"

#include <algorithm>
#include <cmath>

namespace mpigauge {

namespace {

constexpr int reduce_tag = 1004;
constexpr int pair_tag = 1005;

// A communicator of this rank and another one of `all`, the first of which is its rank 0. No others
// take part, so neither time nor memory grows with their number, and MPI-1 has the calls.
MPI_Comm make_comm_of_two(MPI_Comm all, int other, bool first) {
  MPI_Comm between = MPI_COMM_NULL, two = MPI_COMM_NULL;
  call(MPI_Intercomm_create(MPI_COMM_SELF, 0, all, other, pair_tag, &between));
  call(MPI_Intercomm_merge(between, first ? 0 : 1, &two));
  call(MPI_Comm_free(&between));
  return two;
}

}  // namespace

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

int count_groups(int ranks, int world_ranks, Multi multi) {
  return multi == Multi::off ? 1 : std::max(1, world_ranks / ranks);
}

Groups::Groups(int ranks, int world_ranks, int world_rank, Multi multi, Grid grid) {
  groups_ = count_groups(ranks, world_ranks, multi);
  const int place = position(world_rank, grid);
  index_ = place < groups_ * ranks ? place / ranks : -1;
  split(place);
}

void Groups::take_seat(const Rounds& rounds, std::uint64_t round, int world_rank) {
  groups_ = rounds.pairs(round);
  round_ = round;
  if (rounds.kind() == Pairing::Kind::all) pairing_ = "all";
  const auto seat = rounds.seat(round, world_rank);
  if (!seat) return;
  index_ = seat->index;
  addresses_ = {seat->pair.first, seat->pair.second};
  members_ = std::to_string(seat->pair.first) + ',' + std::to_string(seat->pair.second);
}

Groups::Groups(const Rounds& rounds, std::uint64_t round, int world_rank, MPI_Comm together) {
  take_seat(rounds, round, world_rank);
  if (groups_ > 1) {
    split(2 * index_ + (world_rank == addresses_[1] ? 1 : 0));
  } else {
    if (member()) make_pair(together, world_rank);
    active_ = comm_;
  }
}

Groups::Groups(const Rounds& rounds, std::uint64_t round, int world_rank, MPI_Comm together,
               bool addressed)
    : by_address_(addressed), comm_(together), active_(together) {
  take_seat(rounds, round, world_rank);
  if (addressed) return;
  comm_ = MPI_COMM_SELF;
  if (member()) make_pair(together, world_rank);
}

void Groups::make_pair(MPI_Comm together, int world_rank) {
  const bool first = world_rank == addresses_[0];
  comm_ = made_.emplace_back(make_comm_of_two(together, addresses_[first ? 1 : 0], first));
  return_errors(comm_);
}

int Groups::rank() const {
  if (!member()) return -1;
  if (!by_address_) return rank_in(comm_);
  return rank_in(comm_) == addresses_[0] ? 0 : 1;
}

int Groups::size() const {
  if (!member()) return 0;
  return by_address_ ? 2 : size_of(comm_);
}

void Groups::reduce(std::vector<std::int64_t>& values, MPI_Op op) const {
  const int count = static_cast<int>(values.size());
  if (!by_address_) {
    const auto mine = values;
    call(MPI_Reduce(mine.data(), values.data(), count, MPI_INT64_T, op, 0, comm_));
  } else if (rank() == 0) {
    std::vector<std::int64_t> other(values.size());
    call(MPI_Recv(other.data(), count, MPI_INT64_T, addresses_[1], reduce_tag, comm_,
                  MPI_STATUS_IGNORE));
    call(MPI_Reduce_local(other.data(), values.data(), count, MPI_INT64_T, op));
  } else {
    call(MPI_Send(values.data(), count, MPI_INT64_T, addresses_[0], reduce_tag, comm_));
  }
}

void Groups::split(int place) {
  const int colour = member() ? 0 : MPI_UNDEFINED;
  call(MPI_Comm_split(MPI_COMM_WORLD, colour, place, &active_));
  call(MPI_Comm_split(MPI_COMM_WORLD, member() ? index_ : MPI_UNDEFINED, place, &comm_));
  for (const MPI_Comm comm : {active_, comm_}) {
    if (comm == MPI_COMM_NULL) continue;
    return_errors(comm);
    made_.push_back(comm);
  }
}

Groups::~Groups() {
  for (MPI_Comm& comm : made_) MPI_Comm_free(&comm);
}

}  // namespace mpigauge

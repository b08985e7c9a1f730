// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/neighbours/grid.hpp"

#include <algorithm>

#include "core/groups.hpp"

namespace mpigauge {

namespace {

// Wrong bytes of the block from neighbour `n`, if it is what that one sends to its `to`-th.
std::size_t wrong_block(const Run& run, const Block& in, std::size_t n, int from, std::size_t to) {
  return run.wrong(in.bytes(n * run.bytes(), run.bytes()), from, to * run.bytes());
}

}  // namespace

std::array<int, grid_neighbours> neighbours_on_grid(int rank, int ranks) {
  const auto sides = factors(ranks, 2);
  const int rows = sides[0], columns = sides[1];
  const int row = rank / columns, column = rank % columns;
  const auto at = [&](int r, int c) {
    return (r + rows) % rows * columns + (c + columns) % columns;
  };
  return {at(row - 1, column), at(row + 1, column), at(row, column - 1), at(row, column + 1)};
}

std::size_t wrong_after_allgather(const Run& run, const Block& in) {
  const auto neighbours = neighbours_on_grid(run.rank(), run.ranks());
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < neighbours.size(); ++n) {
    wrong += wrong_block(run, in, n, neighbours.at(n), 0);
  }
  return wrong;
}

// My lower neighbour sends me what is for its upper one, and the other way round. Where both are
// one rank, libraries differ in which of its two messages comes first; both must come.
std::size_t wrong_after_alltoall(const Run& run, const Block& in) {
  const auto neighbours = neighbours_on_grid(run.rank(), run.ranks());
  std::size_t wrong = 0;
  for (std::size_t down = 0; down < neighbours.size(); down += 2) {
    const std::size_t up = down + 1;
    const int below = neighbours.at(down), above = neighbours.at(up);
    const std::size_t crossed =
        wrong_block(run, in, down, below, up) + wrong_block(run, in, up, above, down);
    const std::size_t straight =
        wrong_block(run, in, down, below, down) + wrong_block(run, in, up, above, up);
    wrong += below == above ? std::min(crossed, straight) : crossed;
  }
  return wrong;
}

}  // namespace mpigauge

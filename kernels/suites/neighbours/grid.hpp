// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What neighbourhood collectives share: a periodic grid in two dimensions, as square as it can be.
#pragma once

#include <array>

#include "suites/collectives/collective.hpp"

namespace mpigauge {

/// A message for, or of, each neighbour.
inline double to_grid_neighbours(const Shape& s) { return grid_neighbours * message(s); }

/// The neighbours of a rank in the order of MPI: down and up in the first dimension, then in the
/// second. On a side of 2 both are the same rank, on a side of 1 the rank itself.
std::array<int, grid_neighbours> neighbours_on_grid(int rank, int ranks);

/// Checks of the receive buffer: wrong elements.
std::size_t wrong_after_allgather(const Run& run, const Block& in);
std::size_t wrong_after_alltoall(const Run& run, const Block& in);

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/neighbours/grid.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MORE",
        .name = "Neighbor_allgatherv",
        .about = "Neighbor_allgather with a count and a place for each neighbour.",
        .place = 510,
        .send = message,
        .recv = to_grid_neighbours,
    },
    looked_up<decltype(MPI_Neighbor_allgatherv)>,
    [](const Args& a) {
      return std::tuple(a.send, a.count, a.type, a.recv, a.counts, a.places, a.type, a.comm);
    },
    wrong_after_allgather,
    OtherForms{.place = 515,
               .persistent_by_default = false,
               .partners = Partners::grid,
               .counts_per_rank = true},
};

}  // namespace
}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/neighbours/grid.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MORE",
        .name = "Neighbor_alltoallv",
        .about = "Neighbor_alltoall with counts and places for each neighbour.",
        .place = 530,
        .send = to_grid_neighbours,
        .recv = to_grid_neighbours,
    },
    looked_up<decltype(MPI_Neighbor_alltoallv)>,
    [](const Args& a) {
      return std::tuple(a.send, a.counts, a.places, a.type, a.recv, a.counts, a.places, a.type,
                        a.comm);
    },
    wrong_after_alltoall,
    OtherForms{.place = 535,
               .persistent_by_default = false,
               .partners = Partners::grid,
               .counts_per_rank = true},
};

}  // namespace
}  // namespace mpigauge

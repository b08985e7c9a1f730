// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/neighbours/grid.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MORE",
        .name = "Neighbor_alltoall",
        .about =
            "Every rank sends each of its four neighbours on a periodic grid a message of its own.",
        .place = 520,
        .send = to_grid_neighbours,
        .recv = to_grid_neighbours,
    },
    looked_up<decltype(MPI_Neighbor_alltoall)>,
    [](const Args& a) {
      return std::tuple(a.send, a.count, a.type, a.recv, a.count, a.type, a.comm);
    },
    wrong_after_alltoall,
    OtherForms{.place = 525, .persistent_by_default = false, .partners = Partners::grid},
};

}  // namespace
}  // namespace mpigauge

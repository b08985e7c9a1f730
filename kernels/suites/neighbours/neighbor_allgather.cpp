// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/neighbours/grid.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MORE",
        .name = "Neighbor_allgather",
        .about = "Every rank gets one message of each of its four neighbours on a periodic grid.",
        .place = 500,
        .send = message,
        .recv = to_grid_neighbours,
    },
    looked_up<decltype(MPI_Neighbor_allgather)>,
    [](const Args& a) {
      return std::tuple(a.send, a.count, a.type, a.recv, a.count, a.type, a.comm);
    },
    wrong_after_allgather,
    OtherForms{.place = 505, .persistent_by_default = false, .partners = Partners::grid},
};

}  // namespace
}  // namespace mpigauge

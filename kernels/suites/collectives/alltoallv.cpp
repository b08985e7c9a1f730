// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Alltoallv",
        .about = "Alltoall with counts and places for each rank.",
        .place = 170,
        .send = message_per_rank,
        .recv = message_per_rank,
    },
    linked<MPI_Alltoallv>,
    [](const Args& a) {
      return std::tuple(a.send, a.counts, a.places, a.type, a.recv, a.counts, a.places, a.type,
                        a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      const std::size_t mine = static_cast<std::size_t>(run.rank()) * run.bytes();
      return wrong_from_all(run, in, [&](int) { return mine; });
    },
    OtherForms{.place = 90, .counts_per_rank = true},
};

}  // namespace
}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Allgatherv",
        .about = "Allgather with a count and a place for each rank.",
        .place = 110,
        .recv = message_per_rank,
    },
    linked<MPI_Allgatherv>,
    [](const Args& a) {
      return std::tuple(a.send, a.count, a.type, a.recv, a.counts, a.places, a.type, a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      return wrong_from_all(run, in, [](int) { return std::size_t{0}; });
    },
    OtherForms{.place = 30, .counts_per_rank = true},
};

}  // namespace
}  // namespace mpigauge

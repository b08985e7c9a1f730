// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Allgather",
        .about = "Every rank gets one message of every rank.",
        .place = 100,
        .recv = message_per_rank,
    },
    linked<MPI_Allgather>,
    [](const Args& a) {
      return std::tuple(a.send, a.count, a.type, a.recv, a.count, a.type, a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      return wrong_from_all(run, in, [](int) { return std::size_t{0}; });
    },
    OtherForms{.place = 20, .persistent_by_default = false},
};

}  // namespace
}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{Collective{
    Card{
        .suite = "MPI1",
        .name = "Allgather",
        .about = "Every rank gets one message of every rank.",
        .place = 100,
        .recv = message_per_rank,
    },
    [](const Args& a) {
      return MPI_Allgather(a.send, a.count, a.type, a.recv, a.count, a.type, a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      return wrong_from_all(run, in, [](int) { return std::size_t{0}; });
    },
}};

}  // namespace
}  // namespace mpigauge

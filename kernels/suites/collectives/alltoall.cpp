// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Alltoall",
        .about = "Every rank sends every rank a message of its own.",
        .place = 160,
        .send = message_per_rank,
        .recv = message_per_rank,
    },
    linked<MPI_Alltoall>,
    [](const Args& a) {
      return std::tuple(a.send, a.count, a.type, a.recv, a.count, a.type, a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      const std::size_t mine = static_cast<std::size_t>(run.rank()) * run.bytes();
      return wrong_from_all(run, in, [&](int) { return mine; });
    },
    OtherForms{.place = 80},
};

}  // namespace
}  // namespace mpigauge

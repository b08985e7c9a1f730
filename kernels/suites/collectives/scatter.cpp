// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Scatter",
        .about = "The root sends each rank a message of its own.",
        .place = 140,
        .send = message_per_rank,
        .rooted = true,
        .root_sends = true,
    },
    linked<MPI_Scatter>,
    [](const Args& a) {
      return std::tuple(a.send, a.count, a.type, a.recv, a.count, a.type, a.root, a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      return run.wrong(in.bytes(), 0, static_cast<std::size_t>(run.rank()) * run.bytes());
    },
    OtherForms{.place = 60},
};

}  // namespace
}  // namespace mpigauge

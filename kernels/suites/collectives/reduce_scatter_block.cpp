// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Reduce_scatter_block",
        .about = "Reduce_scatter with equal parts, told by one count.",
        .place = 90,
        .unit = Unit::reduction,
        .send = message_per_rank,
    },
    linked<MPI_Reduce_scatter_block>,
    [](const Args& a) { return std::tuple(a.send, a.recv, a.count, a.type, a.op, a.comm); },
    [](const Run& run, const Block& in) -> std::size_t {
      return run.wrong_reduction(in.bytes(), static_cast<std::size_t>(run.rank()) * run.elements());
    },
    OtherForms{.place = 115, .immediate_by_default = false, .persistent_by_default = false},
};

}  // namespace
}  // namespace mpigauge

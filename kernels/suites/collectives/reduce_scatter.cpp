// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Reduce_scatter",
        .about = "Reduces a vector over all ranks and leaves one message of it on each.",
        .place = 80,
        .unit = Unit::reduction,
        .send = message_per_rank,
    },
    linked<MPI_Reduce_scatter>,
    [](const Args& a) { return std::tuple(a.send, a.recv, a.counts, a.type, a.op, a.comm); },
    [](const Run& run, const Block& in) -> std::size_t {
      return run.wrong_reduction(in.bytes(), static_cast<std::size_t>(run.rank()) * run.elements());
    },
    OtherForms{.place = 110, .counts_per_rank = true},
};

}  // namespace
}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Allreduce",
        .about = "Reduces over all ranks; every rank gets the result.",
        .place = 50,
        .unit = Unit::reduction,
    },
    linked<MPI_Allreduce>,
    [](const Args& a) { return std::tuple(a.send, a.recv, a.count, a.type, a.op, a.comm); },
    [](const Run& run, const Block& in) -> std::size_t {
      return run.wrong_reduction(in.bytes(), 0);
    },
    OtherForms{.place = 120, .on_threads = {"AllReduceMT", 100}},
};

}  // namespace
}  // namespace mpigauge

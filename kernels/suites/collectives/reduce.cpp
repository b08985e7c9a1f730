// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Reduce",
        .about = "Reduces over all ranks; the root gets the result.",
        .place = 60,
        .unit = Unit::reduction,
        .options = {SuiteOption::root},
    },
    linked<MPI_Reduce>,
    [](const Args& a) { return std::tuple(a.send, a.recv, a.count, a.type, a.op, a.root, a.comm); },
    [](const Run& run, const Block& in) -> std::size_t {
      return run.rank() == run.root() ? run.wrong_reduction(in.bytes(), 0) : 0;
    },
    OtherForms{.place = 100, .on_threads = {"ReduceMT", 90}},
};

}  // namespace
}  // namespace mpigauge

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
        .root_sends = true,
        .options = {SuiteOption::root},
    },
    linked<MPI_Scatter>,
    [](const Args& a) {
      return std::tuple(a.send, a.count, a.type, a.recv, a.count, a.type, a.root, a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      const std::size_t first = static_cast<std::size_t>(run.rank()) * run.bytes();
      return run.wrong(in.bytes(), run.root(), first);
    },
    OtherForms{.place = 60},
};

}  // namespace
}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Scatterv",
        .about = "Scatter with a count and a place for each rank.",
        .place = 150,
        .send = message_per_rank,
        .root_sends = true,
        .options = {SuiteOption::root},
    },
    linked<MPI_Scatterv>,
    [](const Args& a) {
      return std::tuple(a.send, a.counts, a.places, a.type, a.recv, a.count, a.type, a.root,
                        a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      const std::size_t first = static_cast<std::size_t>(run.rank()) * run.bytes();
      return run.wrong(in.bytes(), run.root(), first);
    },
    OtherForms{.place = 70, .counts_per_rank = true},
};

}  // namespace
}  // namespace mpigauge

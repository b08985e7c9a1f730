// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Gatherv",
        .about = "Gather with a count and a place for each rank.",
        .place = 130,
        .recv = message_per_rank,
        .options = {SuiteOption::root},
    },
    linked<MPI_Gatherv>,
    [](const Args& a) {
      return std::tuple(a.send, a.count, a.type, a.recv, a.counts, a.places, a.type, a.root,
                        a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      if (run.rank() != run.root()) return 0;
      return wrong_from_all(run, in, [](int) { return std::size_t{0}; });
    },
    OtherForms{.place = 50, .counts_per_rank = true},
};

}  // namespace
}  // namespace mpigauge

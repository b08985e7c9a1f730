// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Gather",
        .about = "The root gets one message of every rank.",
        .place = 120,
        .recv = message_per_rank,
        .options = {SuiteOption::root},
    },
    linked<MPI_Gather>,
    [](const Args& a) {
      return std::tuple(a.send, a.count, a.type, a.recv, a.count, a.type, a.root, a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      if (run.rank() != run.root()) return 0;
      return wrong_from_all(run, in, [](int) { return std::size_t{0}; });
    },
    OtherForms{.place = 40},
};

}  // namespace
}  // namespace mpigauge

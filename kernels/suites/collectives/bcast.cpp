// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/collectives/collective.hpp"

namespace mpigauge {
namespace {

const AddCollective added{
    Card{
        .suite = "MPI1",
        .name = "Bcast",
        .about = "The root sends the same message to every rank.",
        .place = 180,
        .root_sends = true,
        .large_counts = true,
        .options = {SuiteOption::root},
    },
    linked<MPI_Bcast>,
    [](const Args& a) {
      // The root's data must never be overwritten by another root's, so it has its own buffer.
      return std::tuple(a.rank == a.root ? a.send : a.recv, a.count, a.type, a.root, a.comm);
    },
    [](const Run& run, const Block& in) -> std::size_t {
      return run.rank() == run.root() ? 0 : run.wrong(in.bytes(), run.root(), 0);
    },
    OtherForms{.place = 10, .on_threads = {"BcastMT", 80}},
    [](const Args& a) {
      void* data = a.rank == a.root ? a.send : a.recv;
      return large_calls().bcast(data, a.large_count, a.type, a.root, a.comm);
    },
};

}  // namespace
}  // namespace mpigauge

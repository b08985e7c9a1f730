// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "MPI1",
    .name = "Barrier",
    .about = "Nobody goes on before everybody has come; barriers follow each other.",
    .place = 190,
    .unit = Unit::none,
    .columns = Columns::barrier,
    .send = nothing,
    .recv = nothing,
};

void barrier(Run& run) {
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn) { call(MPI_Barrier(comm)); });
  run.expect(0);
}

const Add added{card, barrier};

}  // namespace
}  // namespace mpigauge

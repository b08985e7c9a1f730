// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/benchmark.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "MPI1",
    .name = "Reduce_local",
    .about = "The arithmetic of a reduction alone: two vectors of one rank are combined.",
    .place = 70,
    .unit = Unit::reduction,
    .meet = Meet::each,
    .columns = Columns::collective,
    .options = {SuiteOption::layout},
    .keeps_data = "no other rank reads what it would write",
};

// The second operand must hold numbers, and numbers that later calls do not drive to infinity any
// faster than they must: the values of rank 1.
void reduce_local(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  run.fill_operand(in, 1);
  run.measure([&](Turn t) {
    call(MPI_Reduce_local(out[t].data, in[t].data, out[t].small_count(), run.type(), run.op()));
  });
  run.expect(run.wrong_operand(in, 1));
}

const Add added{card, reduce_local};

}  // namespace
}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/window.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "EXT",
    .name = "Accumulate",
    .about = "All ranks add to the memory of rank 0, between fences.",
    .place = 60,
    .unit = Unit::reduction,
    .columns = Columns::collective,
    .modes = Modes::end_then_each,
};

// The target begins with numbers, not with poison, and anew at each visit, so that sums stay small:
// those that one more rank would contribute.
void accumulate(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const MPI_Datatype type = run.type();
  const MPI_Op op = run.op();
  if (run.rank() == 0) run.fill_operand(in, run.ranks());
  in_window(run, in.data(), run.recv_total(), [&](MPI_Win window) {
    call(MPI_Win_fence(MPI_MODE_NOPRECEDE, window));
    run.measure_completed(
        [=](Turn t) {
          const Message m = out[t];
          const int count = m.small_count();
          call(MPI_Accumulate(m.data, count, type, 0, place_of(in, t), count, type, op, window));
        },
        [=] { call(MPI_Win_fence(0, window)); });
    call(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
  });
  if (!run.checking() || run.rank() != 0) return run.expect(0);
  run.refresh();
  const auto period = reduced_period(in.type(), run.op_name(), run.ranks() + 1);
  run.expect(wrong_elements(in.type(), period, 0, in.bytes()));
}

const Add added{card, accumulate};

}  // namespace
}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/passive.hpp"

namespace mpigauge {
namespace {

// One element of whatever type.
double largest_element(const Shape&) { return 16; }

constexpr Card card{
    .suite = "RMA",
    .name = "Fetch_and_op",
    .about = "One rank adds to one element of the other and gets what was there before.",
    .place = 150,
    .ranks = Ranks::pair,
    .unit = Unit::reduction,
    .columns = Columns::single,
    .modes = Modes::each_then_end,
    .send = largest_element,
    .recv = largest_element,
    .moved = message,
    .messages = once,
    .only_bytes = 4,
    .needs = {"MPI_Win_flush", "MPI_Fetch_and_op"},
};

constexpr int target = 1;
constexpr int tries = 50;  // of each rank, so that products of powers of two stay finite

// All ranks at once on the same element: an operation that is not atomic loses some of them.
void race(const Run& run, const Block& out, const Block& in, MPI_Win window) {
  std::vector<std::byte> old(in.type().bytes);
  call(MPI_Barrier(run.comm()));
  call(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window));
  for (int i = 0; i < tries; ++i) {
    call(rma_calls().fetch_and_op(out.data(), old.data(), run.type(), target, 0, run.op(), window));
    call(rma_calls().flush(target, window));
  }
  call(MPI_Win_unlock(target, window));
}

// One element after all that: the target's own number, the timed call of rank 0, and the race.
std::size_t wrong_total(const Run& run, const Block& in) {
  const DataType& type = in.type();
  std::vector<std::byte> total(type.bytes), one(type.bytes);
  type.fill(run.op_name(), target, 0, total.data(), 1);
  for (int rank = 0; rank < run.ranks(); ++rank) {
    type.fill(run.op_name(), rank, 0, one.data(), 1);
    const int times = rank == 0 ? tries + 1 : tries;
    for (int i = 0; i < times; ++i) type.combine(run.op_name(), one.data(), total.data(), 1);
  }
  return type.same(total.data(), in.bytes().data()) ? 0 : 1;
}

void fetch_and_op(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  if (run.rank() == target) run.fill_operand(in, target);
  in_window(run, in.data(), run.recv_total(), [&](MPI_Win window) {
    const auto fetch = rma_calls().fetch_and_op;
    const auto flush = rma_calls().flush;
    const MPI_Datatype type = run.type();
    const MPI_Op op = run.op();
    if (run.rank() == target) {
      stand_by(run);
    } else {
      measure_locked(
          run, window, target,
          [=](Turn t) {
            call(fetch(out[t].data, in[t].data, type, target, place_of(in, t), op, window));
          },
          [=] { call(flush(target, window)); });
    }
    if (run.checking()) race(run, out, in, window);
  });
  if (!run.checking()) return run.expect(0);
  run.refresh();
  run.expect(run.rank() == target ? wrong_total(run, in)
                                  : wrong_contribution(run, in.part(0, in.type().bytes), target));
}

const Add added{card, fetch_and_op};

}  // namespace
}  // namespace mpigauge

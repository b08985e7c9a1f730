// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/passive.hpp"

namespace mpigauge {
namespace {

constexpr Card accumulate_card{
    .suite = "RMA",
    .name = "Accumulate",
    .about = "One rank adds to the memory of the other, which is passive.",
    .place = 130,
    .ranks = Ranks::pair,
    .unit = Unit::reduction,
    .columns = Columns::single,
    .modes = Modes::each_then_end,
    .moved = message,
    .messages = once,
    .needs = {"MPI_Win_flush"},
};

constexpr Card get_accumulate_card = [] {
  Card card = accumulate_card;
  card.name = "Get_accumulate";
  card.about = "As Accumulate, but the origin gets what was there before.";
  card.place = 140;
  card.needs = {"MPI_Win_flush", "MPI_Get_accumulate"};
  return card;
}();

// The target begins with its own numbers, anew at each visit, so that sums stay small. The window
// shows the receive buffer; that of the origin takes what was there before.
template <class Operation>
void one_to_other(Run& run, const Block& in, Operation operation) {
  const Block out = run.send_block();
  const int peer = run.peer();
  if (run.rank() == 1) run.fill_operand(in, 1);
  in_window(run, in.data(), run.recv_total(), [&](MPI_Win window) {
    if (run.rank() == 1) return stand_by(run);
    const auto flush = rma_calls().flush;
    measure_locked(
        run, window, peer,
        [=](Turn t) { operation(out[t], in[t].data, peer, place_of(in, t), window); },
        [=] { call(flush(peer, window)); });
  });
}

void accumulate(Run& run) {
  const Block in = run.recv_block();
  const MPI_Op op = run.op();
  one_to_other(run, in, [=](const Message& m, void*, int target, MPI_Aint place, MPI_Win window) {
    const int n = m.small_count();
    call(MPI_Accumulate(m.data, n, m.type, target, place, n, m.type, op, window));
  });
  run.expect(run.rank() == 1 ? run.wrong_operand(in, 0) : 0);
}

void get_accumulate(Run& run) {
  const Block in = run.recv_block();
  const MPI_Op op = run.op();
  const auto fetch = rma_calls().get_accumulate;
  one_to_other(
      run, in, [=](const Message& m, void* old, int target, MPI_Aint place, MPI_Win window) {
        const int n = m.small_count();
        call(fetch(m.data, n, m.type, old, n, m.type, target, place, n, m.type, op, window));
      });
  run.expect(run.rank() == 1 ? run.wrong_operand(in, 0) : wrong_contribution(run, in, 1));
}

const Add added{accumulate_card, accumulate};
const Add fetching{get_accumulate_card, get_accumulate};

}  // namespace
}  // namespace mpigauge

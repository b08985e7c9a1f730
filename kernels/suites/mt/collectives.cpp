// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/mt/threaded.hpp"

namespace mpigauge::mt {
namespace {

constexpr Card collective(Card card) {
  card.meet = Meet::each;
  card.columns = Columns::collective;
  return threaded_card(card);
}

constexpr Card barrier_card = [] {
  Card card = collective({
      .name = "BarrierMT",
      .about = "Nobody goes on before the same thread of every rank has come.",
      .place = 70,
      .unit = Unit::none,
      .send = nothing,
      .recv = nothing,
  });
  card.columns = Columns::barrier;
  return card;
}();

constexpr Card bcast_card = collective({
    .name = "BcastMT",
    .about = "Each thread of the root sends the same message to a thread of every rank.",
    .place = 80,
    .rooted = true,
});

constexpr Card reduce_card = collective({
    .name = "ReduceMT",
    .about = "Each thread reduces over all ranks; the root's threads get the results.",
    .place = 90,
    .unit = Unit::reduction,
    .rooted = true,
});

constexpr Card allreduce_card = collective({
    .name = "AllReduceMT",
    .about = "Each thread reduces over all ranks; the threads of every rank get the results.",
    .place = 100,
    .unit = Unit::reduction,
});

void barrier(Run& run) {
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn) { call(MPI_Barrier(comm)); });
  run.expect(0);
}

void bcast(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const int rank = run.rank();
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) {
    const Message m = rank == t.root ? out[t] : in[t];
    call(MPI_Bcast(m.data, m.small_count(), m.type, t.root, comm));
  });
  run.expect(rank == 0 ? 0 : run.wrong(in.bytes(), 0, 0));
}

void reduce(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const MPI_Op op = run.op();
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) {
    const Message m = out[t];
    call(MPI_Reduce(m.data, in[t].data, m.small_count(), m.type, op, t.root, comm));
  });
  run.expect(run.rank() == 0 ? run.wrong_reduction(in.bytes(), 0) : 0);
}

void allreduce(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  const MPI_Op op = run.op();
  const MPI_Comm comm = run.comm();
  run.measure([=](Turn t) {
    const Message m = out[t];
    call(MPI_Allreduce(m.data, in[t].data, m.small_count(), m.type, op, comm));
  });
  run.expect(run.wrong_reduction(in.bytes(), 0));
}

const Add barriers = add(barrier_card, barrier);
const Add broadcasts = add(bcast_card, bcast);
const Add reductions = add(reduce_card, reduce);
const Add reductions_to_all = add(allreduce_card, allreduce);

}  // namespace
}  // namespace mpigauge::mt

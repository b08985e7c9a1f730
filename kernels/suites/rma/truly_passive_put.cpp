// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <vector>

#include "core/overlap.hpp"
#include "core/passive.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "RMA",
    .name = "Truly_passive_put",
    .about = "Whether a put is done while its target computes: with and without computation there.",
    .place = 170,
    .ranks = Ranks::pair,
    .columns = Columns::passive,
    .moved = message,
    .messages = once,
    .keeps_data = one_sided,
    .needs = {"MPI_Win_flush"},
};

// The barrier is part of each call: without it the target would not know when to compute again.
void originate(Run& run, const Ends& ends, MPI_Win window) {
  const int peer = run.peer();
  const MPI_Comm comm = run.comm();
  const auto flush = rma_calls().flush;
  const auto put = [=](Turn t) {
    transfer<Way::put>(ends.near[t], peer, place_of(ends.far, t), window);
    call(flush(peer, window));
    call(MPI_Barrier(comm));
  };
  call(MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, window));
  if (!run.checking()) run.measure(Part::pure, put);
  agree_on_computation(run);
  run.measure(put);
  call(MPI_Win_unlock(peer, window));
}

void compute_meanwhile(Run& run) {
  const MPI_Comm comm = run.comm();
  run.sit_out();
  if (!run.checking()) run.measure(Part::pure, [=](Turn) { call(MPI_Barrier(comm)); });
  const Computation work = agree_on_computation(run);
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> sums;
  run.measure(
      [=, &sum](Turn) {
        const auto begin = platform::ticks();
        compute(work.steps);
        sum += platform::ticks() - begin;
        call(MPI_Barrier(comm));
      },
      [&] { sums.push_back(std::exchange(sum, 0)); });
  note_computation(run, work, std::move(sums));
}

void truly_passive_put(Run& run) {
  const Ends ends = ends_of<Way::put>(run);
  in_window(run, ends, [&](MPI_Win window) {
    if (run.rank() == 0) originate(run, ends, window);
    else compute_meanwhile(run);
  });
  run.expect(run.rank() == 0 ? 0 : run.wrong(ends.far.bytes(), 0, 0));
}

const Add added{card, truly_passive_put};

}  // namespace
}  // namespace mpigauge

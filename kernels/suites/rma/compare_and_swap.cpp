// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include <algorithm>
#include <array>
#include <cstring>

#include "core/passive.hpp"

namespace mpigauge {
namespace {

constexpr Card card{
    .suite = "RMA",
    .name = "Compare_and_swap",
    .about = "One rank replaces an MPI_INT of the other, if it is what it should be.",
    .place = 160,
    .ranks = Ranks::pair,
    .columns = Columns::single,
    .modes = Modes::each_then_end,
    .moved = message,
    .messages = once,
    .only_bytes = sizeof(int),
    .untyped = true,
    .keeps_host = "its operands are in memory of the host",
    .needs = {"MPI_Win_flush", "MPI_Compare_and_swap"},
};

constexpr int target = 1;
constexpr int tries = 50;
constexpr std::array values{0, 1};

void clear(const Run& run, const Block& in) {
  const auto copies = static_cast<std::size_t>(std::max<MPI_Aint>(place_of(in, {1, 0}), 1));
  for (std::size_t at = 0; at + sizeof(int) <= run.recv_total(); at += copies) {
    std::memset(in.bytes().data() + at, 0, sizeof(int));
  }
}

// All ranks count up the same number; one that is not swapped atomically misses some.
void race(const Run& run, MPI_Win window) {
  int seen = 0;
  call(MPI_Barrier(run.comm()));
  call(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window));
  for (int done = 0; done < tries;) {
    const int old = seen, next = seen + 1;
    call(rma_calls().compare_and_swap(&next, &old, &seen, MPI_INT, target, 0, window));
    call(rma_calls().flush(target, window));
    if (seen == old) {
      ++done;
      seen = next;
    }
  }
  call(MPI_Win_unlock(target, window));
}

int number_in(const Block& block) {
  int number = -1;
  std::memcpy(&number, block.bytes().data(), sizeof number);
  return number;
}

// The number goes from 0 to 1 and back, so that every call finds what it compares with. When the
// copies rotate, each is met once a turn.
void compare_and_swap(Run& run) {
  const Block in = run.recv_block();
  if (run.rank() == target) clear(run, in);
  std::size_t old = 1;
  in_window(run, in.data(), run.recv_total(), [&](MPI_Win window) {
    const auto swap = rma_calls().compare_and_swap;
    const auto flush = rma_calls().flush;
    if (run.rank() == target) {
      stand_by(run);
    } else {
      measure_locked(
          run, window, target,
          [=, &old](Turn t) {
            if (t.slot == 0) old = 1 - old;
            call(swap(&values[1 - old], &values[old], in[t].data, MPI_INT, target, place_of(in, t),
                      window));
          },
          [=] { call(flush(target, window)); });
    }
    if (run.checking()) race(run, window);
  });
  if (!run.checking()) return run.expect(0);
  run.refresh();
  // What the timed call found at the origin; what it and the race left at the target.
  const int expected = run.rank() == target ? 1 + tries * run.ranks() : values[0];
  run.expect(number_in(in) == expected ? 0 : 1);
}

const Add added{card, compare_and_swap};

}  // namespace
}  // namespace mpigauge

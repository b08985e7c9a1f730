// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The two roles in passive target communication, with the lock outside of what is timed.
#pragma once

#include "core/window.hpp"

namespace mpigauge {

/// Locks the memory of one rank, times `start(Turn)` with `complete()` as the case wants it, and
/// unlocks.
template <class Start, class Complete>
void measure_locked(Run& run, MPI_Win window, int target, Start start, Complete complete) {
  call(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window));
  run.measure_completed(start, complete);
  call(MPI_Win_unlock(target, window));
}

/// The same with the memory of all ranks.
template <class Start, class Complete>
void measure_all_locked(Run& run, MPI_Win window, Start start, Complete complete) {
  call(rma_calls().lock_all(0, window));
  run.measure_completed(start, complete);
  call(rma_calls().unlock_all(window));
}

/// What a rank does whose memory others work on: nothing that counts.
inline void stand_by(Run& run) {
  run.sit_out();
  run.measure([](Turn) {});
}

}  // namespace mpigauge

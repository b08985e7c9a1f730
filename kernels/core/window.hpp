// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Windows over the buffers of a run, and the one-sided transfers through them.
#pragma once

#include "core/benchmark.hpp"
#include "core/calls_rma.hpp"

namespace mpigauge {

/// Which way data go: from the origin to the target, or back.
enum class Way { put, get };

/// Both ends of one-sided transfers. Ranks have the same layout, so that a place in the own block
/// is the place in everybody's.
struct Ends {
  Block near;             ///< what the origin reads or writes of its own
  Block far;              ///< what the window shows to other ranks
  std::size_t shown = 0;  ///< bytes of that, all its copies
};

template <Way way>
Ends ends_of(Run& run) {
  const Block out = run.send_block();
  const Block in = run.recv_block();
  if constexpr (way == Way::put) return {out, in, run.recv_total()};
  else return {in, out, run.send_total()};
}

/// Where data arrive, on the rank that gets some.
template <Way way>
const Block& arrivals(const Ends& ends) {
  if constexpr (way == Way::put) return ends.far;
  else return ends.near;
}

/// Where in the window a call finds its copy of the block that is shown; it rotates when cold.
inline MPI_Aint place_of(const Block& shown, Turn t) {
  return static_cast<std::byte*>(shown[t].data) - shown.data();
}

template <Way way>
void transfer(const Message& near, int target, MPI_Aint place, MPI_Win window) {
  const int count = near.small_count();
  if constexpr (way == Way::put) {
    call(MPI_Put(near.data, count, near.type, target, place, count, near.type, window));
  } else {
    call(MPI_Get(near.data, count, near.type, target, place, count, near.type, window));
  }
}

/// A window of all ranks over memory of theirs, with displacements in bytes; what fails in it
/// returns its code.
MPI_Win make_window(void* base, std::size_t bytes, MPI_Comm comm);
void return_window_errors(MPI_Win window);

/// Gives `body(window)` a window that shows memory of every rank. At the end all ranks meet first:
/// a target that does nothing lets others have their way here, since it is in MPI. What arrived
/// may be read when this returns. No destructor frees the window: a rank that failed must not wait
/// for the others.
template <class Body>
void in_window(const Run& run, void* base, std::size_t bytes, Body body) {
  MPI_Win window = make_window(base, bytes, run.comm());
  body(window);
  call(MPI_Barrier(run.comm()));
  call(MPI_Win_free(&window));
}

template <class Body>
void in_window(const Run& run, const Ends& ends, Body body) {
  in_window(run, ends.far.data(), ends.shown, body);
}

/// Elements of a block that are not what `rank` contributes to a reduction.
std::size_t wrong_contribution(const Run& run, const Block& got, int rank);

}  // namespace mpigauge

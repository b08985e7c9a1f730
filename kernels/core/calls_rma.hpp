// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// One-sided calls that came with MPI-3, looked up so that an older library can do the rest.
#pragma once

#include "core/mpi.hpp"

namespace mpigauge {

/// A null pointer: this library has it not.
struct RmaCalls {
  int (*lock_all)(int, MPI_Win);
  int (*unlock_all)(MPI_Win);
  int (*flush)(int, MPI_Win);
  int (*flush_all)(MPI_Win);
  int (*flush_local)(int, MPI_Win);
  int (*flush_local_all)(MPI_Win);
  int (*get_accumulate)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Aint,
                        int, MPI_Datatype, MPI_Op, MPI_Win);
  int (*fetch_and_op)(const void*, void*, MPI_Datatype, int, MPI_Aint, MPI_Op, MPI_Win);
  int (*compare_and_swap)(const void*, const void*, void*, MPI_Datatype, int, MPI_Aint, MPI_Win);
  int (*win_allocate)(MPI_Aint, int, MPI_Info, MPI_Comm, void*, MPI_Win*);
};

inline const RmaCalls& rma_calls() {
  static const RmaCalls found{
      .lock_all = find_as<decltype(RmaCalls::lock_all)>("MPI_Win_lock_all"),
      .unlock_all = find_as<decltype(RmaCalls::unlock_all)>("MPI_Win_unlock_all"),
      .flush = find_as<decltype(RmaCalls::flush)>("MPI_Win_flush"),
      .flush_all = find_as<decltype(RmaCalls::flush_all)>("MPI_Win_flush_all"),
      .flush_local = find_as<decltype(RmaCalls::flush_local)>("MPI_Win_flush_local"),
      .flush_local_all = find_as<decltype(RmaCalls::flush_local_all)>("MPI_Win_flush_local_all"),
      .get_accumulate = find_as<decltype(RmaCalls::get_accumulate)>("MPI_Get_accumulate"),
      .fetch_and_op = find_as<decltype(RmaCalls::fetch_and_op)>("MPI_Fetch_and_op"),
      .compare_and_swap = find_as<decltype(RmaCalls::compare_and_swap)>("MPI_Compare_and_swap"),
      .win_allocate = find_as<decltype(RmaCalls::win_allocate)>("MPI_Win_allocate"),
  };
  return found;
}

}  // namespace mpigauge

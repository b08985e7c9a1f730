// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What distinguishes the benchmarks on files, and the calls of MPI-IO that follow from it.
#pragma once

#include <string>
#include <vector>

#include "core/mpi.hpp"

namespace mpigauge::io {

enum class Who {
  single,      ///< S_: one rank, on its own
  parallel,    ///< P_: all ranks, each on its own
  collective,  ///< C_: all ranks together
};
enum class Direction { write, read };
enum class Pointer {
  indv,  ///< a pointer of each rank, on a view that shows it only its own blocks
  expl,  ///< the place in the file is said in each call
  shared,
  priv,  ///< a pointer of each rank in a file of its own
};

struct Access {
  Who who = Who::single;
  Direction direction = Direction::write;
  Pointer pointer = Pointer::indv;
  bool blocking = true;

  /// Whether every rank has a file of its own.
  [[nodiscard]] bool own_files() const { return who == Who::single || pointer == Pointer::priv; }
  /// Whether ranks take their turns in any order.
  [[nodiscard]] bool unordered() const {
    return pointer == Pointer::shared && who != Who::collective;
  }
};

/// All that there are, in the order of IMB's list.
std::vector<Access> all_accesses();
/// As IMB calls it: P_IWrite_Shared.
std::string name_of(const Access& access);
std::string sense_of(const Access& access);

/// The calls that make one access. The offset counts only where it is explicit.
struct Calls {
  using AtOnce = int (*)(MPI_File, MPI_Offset, void*, int);
  using Start = int (*)(MPI_File, MPI_Offset, void*, int, MPI_Request*);
  using Finish = int (*)(MPI_File, void*, MPI_Request*);
  const char* name;  ///< of the call that blocks
  AtOnce at_once;
  const char* start_name;
  Start start;
  Finish finish;
};
const Calls& calls_of(const Access& access);

}  // namespace mpigauge::io

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Partitioned communication of MPI-4: a persistent message in parts, each of which the sender says
// to be ready, and the receiver can look for, on its own.
#pragma once

#include "core/mpi.hpp"

namespace mpigauge {

/// A null pointer: this library has it not.
struct PartitionedCalls {
  int (*send_init)(const void*, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info,
                   MPI_Request*);
  int (*recv_init)(void*, int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request*);
  int (*ready)(int, MPI_Request);
  int (*arrived)(MPI_Request, int, int*);
};

inline const PartitionedCalls& partitioned_calls() {
  static const PartitionedCalls found{
      .send_init = find_as<decltype(PartitionedCalls::send_init)>("MPI_Psend_init"),
      .recv_init = find_as<decltype(PartitionedCalls::recv_init)>("MPI_Precv_init"),
      .ready = find_as<decltype(PartitionedCalls::ready)>("MPI_Pready"),
      .arrived = find_as<decltype(PartitionedCalls::arrived)>("MPI_Parrived"),
  };
  return found;
}

/// How many parts a message of so many elements has: as many as wanted, or the next smaller number
/// that divides it, since all parts are equal.
constexpr int parts_of(MPI_Count elements, int wanted) {
  if (elements == 0) return wanted;
  int parts = wanted;
  while (elements % parts != 0) --parts;
  return parts;
}

}  // namespace mpigauge

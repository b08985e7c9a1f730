// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Counts calls of a few functions of Open MPI in another way than the profiler does, to compare
// with it: each rank prints its counts at the end of MPI.
#include <cstdint>
#include <cstdio>

using Word = std::uintptr_t;

#define FUNCTIONS    \
  COUNTED(Send)      \
  COUNTED(Recv)      \
  COUNTED(Isend)     \
  COUNTED(Irecv)     \
  COUNTED(Sendrecv)  \
  COUNTED(Wait)      \
  COUNTED(Waitall)   \
  COUNTED(Waitany)   \
  COUNTED(Barrier)   \
  COUNTED(Bcast)     \
  COUNTED(Reduce)    \
  COUNTED(Allreduce) \
  COUNTED(Allgather) \
  COUNTED(Alltoall)  \
  COUNTED(Scan)      \
  COUNTED(Cart_create)

extern "C" {

// Further words than a function has are where it does not look.
#define COUNTED(NAME)                                                                            \
  static long count_##NAME = 0;                                                                  \
  int PMPI_##NAME(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);       \
  int MPI_##NAME(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j, \
                 Word k, Word l) {                                                               \
    ++count_##NAME;                                                                              \
    return PMPI_##NAME(a, b, c, d, e, f, g, h, i, j, k, l);                                      \
  }
FUNCTIONS
#undef COUNTED

int PMPI_Comm_rank(void*, int*);
extern char ompi_mpi_comm_world[];
int PMPI_Finalize();

int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(ompi_mpi_comm_world, &rank);
#define COUNTED(NAME) \
  if (count_##NAME > 0) std::fprintf(stderr, "tally %d MPI_" #NAME " %ld\n", rank, count_##NAME);
  FUNCTIONS
#undef COUNTED
  return PMPI_Finalize();
}
}

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// calls COLLECTIVE BYTES...: calls a collective with messages of these sizes, counted as by the
// benchmark of its name. Before each call rank 0 prints the size; what is preloaded prints which
// functions of the MPI carry the call out, up to a line "end".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 22, MOST_RANKS = 64 };
static char sent[ROOM], received[ROOM];

static void call(const char* name, int bytes) {
  const MPI_Comm all = MPI_COMM_WORLD;
  int ranks, counts[MOST_RANKS];
  MPI_Comm_size(all, &ranks);
  for (int n = 0; n < ranks; ++n) counts[n] = bytes / ranks + (n < bytes % ranks);
  if (!strcmp(name, "Allreduce")) {
    MPI_Allreduce(sent, received, bytes, MPI_CHAR, MPI_SUM, all);
  } else if (!strcmp(name, "Reduce")) {
    MPI_Reduce(sent, received, bytes, MPI_CHAR, MPI_SUM, 0, all);
  } else if (!strcmp(name, "Bcast")) {
    MPI_Bcast(sent, bytes, MPI_CHAR, 0, all);
  } else if (!strcmp(name, "Allgather")) {
    MPI_Allgather(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, all);
  } else if (!strcmp(name, "Gather")) {
    MPI_Gather(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, 0, all);
  } else if (!strcmp(name, "Scatter")) {
    MPI_Scatter(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, 0, all);
  } else if (!strcmp(name, "Alltoall")) {
    MPI_Alltoall(sent, bytes, MPI_CHAR, received, bytes, MPI_CHAR, all);
  } else if (!strcmp(name, "Reduce_scatter")) {
    MPI_Reduce_scatter(sent, received, counts, MPI_CHAR, MPI_SUM, all);
  } else if (!strcmp(name, "Reduce_scatter_block")) {
    MPI_Reduce_scatter_block(sent, received, bytes, MPI_CHAR, MPI_SUM, all);
  } else {
    fprintf(stderr, "calls: there is no %s\n", name);
    MPI_Abort(all, 2);
  }
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  call(argv[1], 8);  // what is set up at the first call of a communicator is not an algorithm
  for (int n = 2; n < argc; ++n) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("\ncall %s", argv[n]);
    fflush(stdout);
    call(argv[1], atoi(argv[n]));
    if (rank == 0) printf(" end\n");
    fflush(stdout);
  }
  return MPI_Finalize();
}

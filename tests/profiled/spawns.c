/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the mpigauge authors
 *
 * One rank spawns two ranks of itself, which wait for each other and for their parent. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Comm parent, between;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
  } else {
    int step;
    between = parent;
    for (step = 0; step < 7; step++) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Barrier(between);
  MPI_Comm_disconnect(&between);
  MPI_Finalize();
  return 0;
}

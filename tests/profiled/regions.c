/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the mpigauge authors
 *
 * A program with regions: in C and in C++, at a fixed address or not. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "mpigauge.h"

int main(int argc, char** argv) {
  mpigauge_begin("all");
  MPI_Init(&argc, &argv);
  for (int n = 0; n < 3; ++n) {
    mpigauge_begin("inner");
    MPI_Barrier(MPI_COMM_WORLD);
    mpigauge_end();
  }
  mpigauge_end();
  MPI_Finalize();
  return 0;
}

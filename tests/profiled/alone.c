/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the mpigauge authors
 *
 * A program for one_rank.c: 5 sums of 3 doubles, 4 barriers in a region. */
#include <stdio.h>

#include "mpigauge.h"

int MPI_Init(int*, char***);
int MPI_Finalize(void);
int MPI_Barrier(int);
int MPI_Allreduce(const void*, void*, int, int, int, int);
enum { world = 0x44000000, doubles = 0x4c00080b, sum = 0x58000003 };

int main(int argc, char** argv) {
  double in[3] = {1, 2, 3}, out[3] = {0, 0, 0};
  MPI_Init(&argc, &argv);
  for (int n = 0; n < 5; ++n) MPI_Allreduce(in, out, 3, doubles, sum, world);
  mpigauge_begin("quiet");
  for (int n = 0; n < 4; ++n) MPI_Barrier(world);
  mpigauge_end();
  MPI_Finalize();
  printf("%g\n", out[2]);
  return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the mpigauge authors
 *
 * One rank spawns two ranks of itself, which wait for each other and for their parent. With an
 * argument it spawns one, with the variables of a launcher that started four ranks. */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char** argv) {
  MPI_Comm parent, between;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    char* of_srun[] = {"-u",    "PMI_SIZE", "-u", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS=4",
                       argv[0], NULL};
    const int is_one = argc > 1;
    MPI_Comm_spawn(is_one ? "env" : argv[0], is_one ? of_srun : MPI_ARGV_NULL, is_one ? 1 : 2,
                   MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
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

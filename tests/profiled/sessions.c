/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright the mpigauge authors
 *
 * A program that begins MPI with sessions alone, and never calls MPI_Init. */
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

int main() {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int one = 1, sum = 0, ranks = 0;
  if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) return 3;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_size(comm, &ranks);
  for (int n = 0; n < 5; ++n) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return sum == ranks ? 0 : 1;
}

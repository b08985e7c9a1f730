// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Ranks compute, come late as they are told, and meet in a collective.
//
// usage: late NAME CALLS MICROSECONDS  (one: the last rank is late; turns: each in its turn;
// nobody)
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdlib>
#include <string>

namespace {

void compute(double seconds) {
  const double start = MPI_Wtime();
  while (MPI_Wtime() - start < seconds) {
  }
}

bool is_late(const std::string& who, int call, int rank, int ranks) {
  if (who == "one") return rank == ranks - 1;
  return who == "turns" && call % ranks == rank;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string who = argv[1];
  const int calls = std::atoi(argv[2]);
  const double late = std::atof(argv[3]) * 1e-6;
  double mine = rank, sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int n = 0; n < calls; ++n) {
    compute(20e-6 + (is_late(who, n, rank, ranks) ? late : 0));
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}

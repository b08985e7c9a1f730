// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Programs of the usual kinds, whose calls of MPI are known and come evenly.
//
// usage: steady WHAT STEPS
//   WHAT  stencil    each step swaps 8 KiB with both neighbours on a ring by MPI_Irecv, MPI_Isend
//   and
//                    MPI_Waitall, computes 50 µs, and sums two numbers
//         transpose  each step changes 4 KiB with every rank by MPI_Alltoall, computes 100 µs, and
//                    every tenth gives 1 KiB of rank 0 to all
//         chain      each step sends 1 KiB to the next rank by MPI_Send, the last one to none,
//                    computes 20 µs, and meets in a barrier
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

int rank = 0, ranks = 0;
constexpr int tag = 3, bytes_of_halo = 8192, bytes_of_block = 4096, bytes_of_share = 1024;

void compute(double seconds) {
  const double start = MPI_Wtime();
  while (MPI_Wtime() - start < seconds) {
  }
}

void stencil(int steps) {
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  std::vector<char> out(2 * bytes_of_halo), in(2 * bytes_of_halo);
  for (int step = 0; step < steps; ++step) {
    MPI_Request requests[4];
    MPI_Irecv(in.data(), bytes_of_halo, MPI_BYTE, left, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in.data() + bytes_of_halo, bytes_of_halo, MPI_BYTE, right, tag, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(out.data(), bytes_of_halo, MPI_BYTE, right, tag, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out.data() + bytes_of_halo, bytes_of_halo, MPI_BYTE, left, tag, MPI_COMM_WORLD,
              &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    compute(50e-6);
    double own[2] = {1, 2}, sums[2];
    MPI_Allreduce(own, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

void transpose(int steps) {
  const auto all = static_cast<std::size_t>(ranks) * bytes_of_block;
  std::vector<char> out(all), in(all), share(bytes_of_share);
  for (int step = 0; step < steps; ++step) {
    MPI_Alltoall(out.data(), bytes_of_block, MPI_BYTE, in.data(), bytes_of_block, MPI_BYTE,
                 MPI_COMM_WORLD);
    compute(100e-6);
    if (step % 10 == 9) MPI_Bcast(share.data(), bytes_of_share, MPI_BYTE, 0, MPI_COMM_WORLD);
  }
}

void chain(int steps) {
  std::vector<char> data(bytes_of_share);
  for (int step = 0; step < steps; ++step) {
    if (rank > 0) {
      MPI_Recv(data.data(), bytes_of_share, MPI_BYTE, rank - 1, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
    }
    if (rank + 1 < ranks) {
      MPI_Send(data.data(), bytes_of_share, MPI_BYTE, rank + 1, tag, MPI_COMM_WORLD);
    }
    compute(20e-6);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string what = argc == 3 ? argv[1] : "";
  const int steps = argc == 3 ? std::atoi(argv[2]) : 0;
  if (what == "stencil") {
    stencil(steps);
  } else if (what == "transpose") {
    transpose(steps);
  } else if (what == "chain") {
    chain(steps);
  } else {
    if (rank == 0) std::fprintf(stderr, "usage: steady stencil|transpose|chain STEPS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
  return 0;
}

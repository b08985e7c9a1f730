// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How long calls take: rank 0 prints a line for each block of a loop, its name and nanoseconds of a
// call (of a message, where 64 are in flight). Two ranks.
//
// usage: translation_cost BLOCKS
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#ifdef MPIGAUGE_STANDARD_ABI
#include <mpi_abi.h>
#else
#include <mpi.h>
#endif

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

double out = 1, in = 0;
int rank = 0;

void iprobe() {
  int found = 0;
  MPI_Iprobe(rank, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

void sendrecv() {
  MPI_Sendrecv(&out, 1, MPI_DOUBLE, rank, 8, &in, 1, MPI_DOUBLE, rank, 8, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

void pingpong() {
  const int other = 1 - rank;
  if (rank == 0) {
    MPI_Send(&out, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&in, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
  }
}

constexpr int inflight = 64;

void window() {
  std::array<MPI_Request, inflight> requests;
  std::array<double, inflight> data{};
  for (int n = 0; n < inflight; ++n) {
    if (rank == 0) {
      MPI_Isend(&data[n], 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, &requests[n]);
    } else {
      MPI_Irecv(&data[n], 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &requests[n]);
    }
  }
  MPI_Waitall(inflight, requests.data(), MPI_STATUSES_IGNORE);
  double done = 0;
  if (rank == 0) {
    MPI_Recv(&done, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&done, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
  }
}

struct Loop {
  const char* name;
  void (*call)();
  int calls;
  double parts;
};

void measure(const Loop& loop, int blocks) {
  using Clock = std::chrono::steady_clock;
  for (int block = 0; block < blocks; ++block) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = Clock::now();
    for (int n = 0; n < loop.calls; ++n) loop.call();
    const std::chrono::duration<double, std::nano> took = Clock::now() - start;
    if (rank == 0) std::printf("%s\t%.3f\n", loop.name, took.count() / loop.calls / loop.parts);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 10;
  for (const Loop& loop :
       {Loop{"Iprobe", iprobe, 1000, 1}, Loop{"Sendrecv to itself", sendrecv, 1000, 1},
        Loop{"PingPong 8 B", pingpong, 500, 2}, Loop{"64 in flight", window, 20, inflight}}) {
    measure(loop, blocks);
  }
  MPI_Finalize();
  return 0;
}

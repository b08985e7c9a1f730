// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What calls take through whatever is preloaded, and past it by their PMPI names: blocks of both in
// turn, in one job, from eight functions deep. Rank 0 prints a line for each pair of blocks: loop,
// nanoseconds of a call with and without. The first loop is of readings of the profiler's clock,
// which take as long with as without.
//
// usage: profile_cost BLOCKS
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "clock.hpp"

namespace {

constexpr int calls = 1000;
double out = 1, in = 0;
int rank = 0, found = 0;

struct Clock {
  static constexpr const char* name = "clock";
  static void with() { read = mpigauge::profile::ticks(); }
  static void without() { read = mpigauge::profile::ticks(); }
  static inline volatile mpigauge::profile::Ticks read = 0;
};

struct Iprobe {
  static constexpr const char* name = "Iprobe";
  static void with() { MPI_Iprobe(rank, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE); }
  static void without() { PMPI_Iprobe(rank, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE); }
};

struct Sendrecv {
  static constexpr const char* name = "Sendrecv to itself";
  static void with() {
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, rank, 8, &in, 1, MPI_DOUBLE, rank, 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  static void without() {
    PMPI_Sendrecv(&out, 1, MPI_DOUBLE, rank, 8, &in, 1, MPI_DOUBLE, rank, 8, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE);
  }
};

double block(void (*call)()) {
  using std::chrono::steady_clock;
  const auto start = steady_clock::now();
  for (int n = 0; n < calls; ++n) call();
  return std::chrono::duration<double, std::nano>(steady_clock::now() - start).count() / calls;
}

template <class Loop, int depth>
[[gnu::noinline]] void measure(int blocks) {
  if constexpr (depth > 0) {
    measure<Loop, depth - 1>(blocks);
    asm volatile("" ::: "memory");
  } else {
    for (int n = 0; n < blocks; ++n) {
      const double with = block(Loop::with), without = block(Loop::without);
      if (rank == 0) std::printf("%s\t%.2f\t%.2f\n", Loop::name, with, without);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  mpigauge::profile::choose_clock();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 10;
  measure<Clock, 8>(blocks);
  measure<Iprobe, 8>(blocks);
  MPI_Barrier(MPI_COMM_WORLD);
  measure<Sendrecv, 8>(blocks);
  MPI_Finalize();
  return 0;
}

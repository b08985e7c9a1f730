// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Programs that hang or die; the first argument is the way. tests/e2e/test_profile_hangs.py has
// what ranks are in then.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

int rank = 0, ranks = 0, number = 0;

void work() {
  for (;;) usleep(1000);
}

// Each rank receives from the one behind it before it sends.
void by_order() {
  MPI_Recv(&number, 1, MPI_INT, (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&number, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD);
}

// The last rank leaves out a barrier of a communicator of all ranks.
void by_missing_rank() {
  MPI_Comm all;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_set_name(all, "all of them");
  if (rank < ranks - 1) MPI_Barrier(all);
}

// Small ones are alike to some MPIs.
void mixed_collectives() {
  constexpr int count = 1 << 16;
  const std::vector<int> out(static_cast<std::size_t>(count) * 8);
  std::vector<int> in(out.size());
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Alltoall(out.data(), count, MPI_INT, in.data(), count, MPI_INT, MPI_COMM_WORLD);
  } else {
    MPI_Allreduce(out.data(), in.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
}

void aborts() {
  if (rank == 1) {
    sleep(1);
    MPI_Abort(MPI_COMM_WORLD, 7);
    work();  // some MPIs return
  }
  MPI_Request request;
  MPI_Irecv(&number, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void is_killed() {
  if (rank == 1) {
    sleep(1);
    raise(SIGKILL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void exits() {
  if (rank == 1) {
    sleep(1);
    std::exit(3);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Rank 1 stops outside MPI.
void stops() {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    raise(SIGSTOP);
    work();
  }
  MPI_Bcast(&number, 1, MPI_INT, 1, MPI_COMM_WORLD);
}

void runs_out_of_memory() {
  if (rank == 1) {
    const rlimit limit = {1, 1};
    sleep(1);
    setrlimit(RLIMIT_AS, &limit);
    auto* const memory = new std::array<char, std::size_t{1} << 30U>;  // throws, and nobody catches
    asm volatile("" : : "r"(memory) : "memory");
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

const struct {
  const char* name;
  void (*hang)();
} ways[] = {
    {"order", by_order},
    {"missing", by_missing_rank},
    {"mixed", mixed_collectives},
    {"abort", aborts},
    {"kill", is_killed},
    {"exit", exits},
    {"stop", stops},
    {"memory", runs_out_of_memory},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (std::size_t n = 0; n < sizeof ways / sizeof *ways; ++n) {
    if (std::strcmp(ways[n].name, argv[1]) == 0) ways[n].hang();
  }
  MPI_Finalize();
  return 0;
}

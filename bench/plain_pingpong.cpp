// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
// A ping-pong as everybody writes it: a fixed number of exchanges of each size, one table in the
// form of IMB's. With the argument "empty" it starts and ends MPI, and does nothing else.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {
constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::size_t kMostVolume = std::size_t{40} << 20;
constexpr std::size_t kMostCalls = 1000;

std::size_t number_of_calls(std::size_t bytes) {
  return std::min(kMostCalls, kMostVolume / std::max<std::size_t>(bytes, 1));
}

void exchange(char* buffer, int bytes, int rank) {
  if (rank == 0) {
    MPI_Send(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

void bind_to_core(const char* cores, int rank) {
  for (; rank > 0; --rank) {
    const char* comma = std::strchr(cores, ',');
    if (comma == nullptr) return;
    cores = comma + 1;
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(std::atoi(cores)), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) std::perror("sched_setaffinity");
}

double mean_us(char* buffer, std::size_t bytes, int rank) {
  const std::size_t calls = number_of_calls(bytes);
  exchange(buffer, static_cast<int>(bytes), rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (std::size_t i = 0; i < calls; ++i) exchange(buffer, static_cast<int>(bytes), rank);
  return 1e6 * (MPI_Wtime() - start) / (2.0 * static_cast<double>(calls));
}
}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_empty = argc > 1 && std::strcmp(argv[1], "empty") == 0;
  if (argc > 1 && !is_empty) bind_to_core(argv[1], rank);
  if (!is_empty) {
    std::vector<char> buffer(kMostBytes);
    if (rank == 0) std::printf("# Benchmarking PingPong\n");
    for (std::size_t bytes = 0; bytes <= kMostBytes; bytes = bytes == 0 ? 1 : 2 * bytes) {
      const double time_us = mean_us(buffer.data(), bytes, rank);
      const double rate = time_us > 0 ? static_cast<double>(bytes) / time_us : 0.0;
      if (rank == 0)
        std::printf("%zu %zu %.3f %.2f\n", bytes, number_of_calls(bytes), time_us, rate);
      if (rank == 0) std::fflush(stdout);
    }
  }
  MPI_Finalize();
}

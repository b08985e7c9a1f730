// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Windows begin at moments that were agreed on once. Before each of them the ranks meet at a
// barrier; then each waits for the window, makes its call and reads the counter. A window counts if
// every rank was there when it began. Its time is from then until the last rank was done. Windows
// are as narrow as the calls allow: after a longer wait, calls take up to a tenth longer.
#include "window_by_hand.hpp"

#include <mpi.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdint>

namespace by_hand {

namespace {

constexpr int windows = 20, warm = 20;
constexpr double least_window_s = 3e-6;

double hz = 1e9;

std::uint64_t now() {
  unsigned processor = 0;
  return __rdtscp(&processor);
}

int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void bcast(int bytes, const Memory& memory) {
  MPI_Bcast(memory.own, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void reduce(int bytes, const Memory& memory) {
  MPI_Reduce(memory.sent, memory.received, bytes / 4, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

void allreduce(int bytes, const Memory& memory) {
  MPI_Allreduce(memory.sent, memory.received, bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

void alltoall(int bytes, const Memory& memory) {
  MPI_Alltoall(memory.sent, bytes, MPI_BYTE, memory.received, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

void nothing(int /*bytes*/, const Memory& /*memory*/) {}

// Looked up before a window opens, so that this is in no time.
using Call = void (*)(int, const Memory&);
Call call_of(const std::string& name) {
  if (name == "Bcast") return bcast;
  if (name == "Reduce") return reduce;
  if (name == "Allreduce") return allreduce;
  if (name == "Alltoall") return alltoall;
  return nothing;
}

// Of the calls that warm up, on the slowest rank.
double usual_ticks(Call call, int bytes, const Memory& memory) {
  std::vector<double> took;
  for (int i = 0; i < warm; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = now();
    call(bytes, memory);
    took.push_back(static_cast<double>(now() - start));
  }
  std::sort(took.begin(), took.end());
  double all = 0;
  MPI_Allreduce(&took[took.size() / 2], &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

}  // namespace

double find_rate() {
  const double start_s = MPI_Wtime();
  const auto start = now();
  while (MPI_Wtime() - start_s < 0.05) {
  }
  hz = static_cast<double>(now() - start) / (MPI_Wtime() - start_s);
  MPI_Bcast(&hz, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return hz;
}

std::vector<double> visit(const std::string& name, int bytes, const Memory& memory) {
  const Call call = call_of(name);
  const double usual = usual_ticks(call, bytes, memory);
  const auto width = static_cast<std::uint64_t>(least_window_s * hz + usual);
  MPI_Barrier(MPI_COMM_WORLD);
  std::uint64_t plan[2] = {now() + 5 * width, width};
  MPI_Bcast(plan, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  std::vector<std::int64_t> took(windows), late(windows), slowest(windows), any(windows);
  for (std::size_t i = 0; i < windows; ++i) {
    const std::uint64_t begin = plan[0] + i * plan[1];
    MPI_Barrier(MPI_COMM_WORLD);
    late[i] = now() > begin ? 1 : 0;
    while (now() < begin) {
    }
    call(bytes, memory);
    took[i] = static_cast<std::int64_t>(now() - begin);
  }
  MPI_Reduce(took.data(), slowest.data(), windows, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(late.data(), any.data(), windows, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  std::vector<double> counted;
  for (std::size_t i = 0; i < windows && own_rank() == 0; ++i) {
    if (any[i] == 0) counted.push_back(static_cast<double>(slowest[i]));
  }
  return counted;
}

}  // namespace by_hand

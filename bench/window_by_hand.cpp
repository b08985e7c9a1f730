// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A loop over windows as one writes it by hand, for bench/window_sync.py; it shares nothing with
// the kernels. All ranks are on one machine and read one time stamp counter.
//
//   window_by_hand ROUNDS SIZES CORES      window_by_hand 60 8,512,4096 0,1
//
// Windows begin at moments that were agreed on once. Before each of them the ranks meet at a
// barrier; then each waits for the window, makes its call and reads the counter. A window counts if
// every rank was there when it began. Its time is from then until the last rank was done, less what
// windows without a call take. Printed is the median of each benchmark and size, in microseconds.
#include <mpi.h>
#include <sched.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int windows = 20, warm = 20;
constexpr double least_window_s = 10e-6;

int rank_of_world = 0, ranks_of_world = 1;
double hz = 1e9;
std::vector<char> sent, received;

std::uint64_t now() {
  unsigned processor = 0;
  return __rdtscp(&processor);
}

std::vector<int> numbers(const std::string& text) {
  std::vector<int> found;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) found.push_back(std::atoi(word.c_str()));
  return found;
}

void call(const std::string& name, int bytes) {
  const int floats = bytes / 4;
  char* const own = rank_of_world == 0 ? sent.data() : received.data();
  if (name == "Bcast") {
    MPI_Bcast(own, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  } else if (name == "Reduce") {
    MPI_Reduce(sent.data(), received.data(), floats, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  } else if (name == "Allreduce") {
    MPI_Allreduce(sent.data(), received.data(), floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  } else if (name == "Alltoall") {
    MPI_Alltoall(sent.data(), bytes, MPI_BYTE, received.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double usual_ticks(const std::string& name, int bytes) {
  std::vector<double> took;
  for (int i = 0; i < warm; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = now();
    call(name, bytes);
    took.push_back(static_cast<double>(now() - start));
  }
  double mine = median(took), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

// Ticks of the windows that counted, on rank 0.
std::vector<double> visit(const std::string& name, int bytes) {
  std::uint64_t width =
      static_cast<std::uint64_t>(least_window_s * hz + 3 * usual_ticks(name, bytes));
  MPI_Barrier(MPI_COMM_WORLD);
  std::uint64_t plan[2] = {now() + 5 * width, width};
  MPI_Bcast(plan, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  std::vector<std::int64_t> took(windows), late(windows), slowest(windows), any(windows);
  for (int i = 0; i < windows; ++i) {
    const std::uint64_t begin = plan[0] + static_cast<std::uint64_t>(i) * plan[1];
    MPI_Barrier(MPI_COMM_WORLD);
    late[i] = now() > begin ? 1 : 0;
    while (now() < begin) {
    }
    call(name, bytes);
    took[i] = static_cast<std::int64_t>(now() - begin);
  }
  MPI_Reduce(took.data(), slowest.data(), windows, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(late.data(), any.data(), windows, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  std::vector<double> counted;
  for (int i = 0; i < windows && rank_of_world == 0; ++i) {
    if (any[i] == 0) counted.push_back(static_cast<double>(slowest[i]));
  }
  return counted;
}

void find_rate() {
  const double start_s = MPI_Wtime();
  const auto start = now();
  while (MPI_Wtime() - start_s < 0.05) {
  }
  hz = static_cast<double>(now() - start) / (MPI_Wtime() - start_s);
  MPI_Bcast(&hz, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: window_by_hand ROUNDS SIZES CORES\n", stderr);
    return 2;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_world);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_of_world);
  const auto sizes = numbers(argv[2]), cores = numbers(argv[3]);
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(cores.at(rank_of_world), &own);
  sched_setaffinity(0, sizeof own, &own);
  find_rate();
  const auto most = static_cast<std::size_t>(*std::max_element(sizes.begin(), sizes.end()));
  sent.assign(most * ranks_of_world, 1);
  received.assign(most * ranks_of_world, 2);

  std::map<std::pair<std::string, int>, std::vector<double>> found;
  for (int round = 0; round < std::atoi(argv[1]); ++round) {
    for (const auto* name : {"nothing", "Bcast", "Reduce", "Allreduce", "Alltoall"}) {
      for (const int bytes : sizes) {
        const auto ticks = visit(name, bytes);
        auto& all = found[{name, name == std::string("nothing") ? 0 : bytes}];
        if (round > 0) all.insert(all.end(), ticks.begin(), ticks.end());
      }
    }
  }
  const double empty = median(found[{"nothing", 0}]);
  for (const auto& [cell, ticks] : found) {
    if (rank_of_world != 0 || cell.first == "nothing" || ticks.empty()) continue;
    std::printf("%s %d %.5f\n", cell.first.c_str(), cell.second,
                (median(ticks) - empty) / hz * 1e6);
  }
  MPI_Finalize();
  return 0;
}

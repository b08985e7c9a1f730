// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Visits of our kernels that start by the clock, and of a loop written by hand, in turn within one
// job: what differs from launch to launch and from minute to minute is the same for both. Prints a
// line for each round, benchmark and size: the round, the name, bytes, and the median of our and of
// the other visit in microseconds. window_sync.py builds, runs and judges it.
//
// usage: window_sync ROUNDS SIZES CORES      window_sync 60 8,512,4096 0,1

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "core/benchmark.hpp"
#include "core/statistics.hpp"
#include "platform/platform.hpp"
#include "window_by_hand.hpp"

namespace mpigauge {
namespace {

constexpr std::string_view names[] = {"Bcast", "Reduce", "Allreduce", "Alltoall"};
// As a visit to a short call is (core/sampling.cpp).
constexpr std::uint32_t warm = 20, samples = 20;

std::vector<int> numbers(const std::string& text) {
  std::vector<int> found;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) found.push_back(std::atoi(word.c_str()));
  return found;
}

Case case_of(const Card& card, int bytes) {
  const bool reduces = card.unit == Unit::reduction;
  Case row;
  row.card = &card;
  row.shape = {.bytes = static_cast<std::size_t>(bytes), .ranks = size_of(MPI_COMM_WORLD)};
  row.type = find_type(reduces ? "float" : "byte");
  row.op = reduces ? find_op("sum") : nullptr;
  return row;
}

class Bench {
 public:
  Bench()
      : starter_(SyncMethod::clock, MPI_COMM_WORLD, platform::clock_facts(), true),
        team_{.comm = MPI_COMM_WORLD,
              .rank = rank_in(MPI_COMM_WORLD),
              .ranks = size_of(MPI_COMM_WORLD),
              .starter = &starter_,
              .buffers = &buffers_} {}

  /// Ticks of the samples that counted, on rank 0; all ranks together.
  std::vector<double> visit(const Benchmark& benchmark, int bytes) {
    const Case row = case_of(benchmark.card, bytes);
    const Task task{Work::apart, warm, samples, 1, 1};
    Run run(row, team_, task);
    benchmark.function(run);
    return slowest(run.take_outcome());
  }

  /// The memory of these visits, so that the other loop has the same.
  by_hand::Memory memory(const Benchmark& benchmark, int bytes) {
    const Case row = case_of(benchmark.card, bytes);
    void* const sent =
        buffers_.send(contents(row, team_.rank), layout(row).send_total()).location().data;
    void* const received = buffers_.recv(layout(row).recv_total()).location().data;
    return {sent, received, team_.rank == 0 ? sent : received};
  }

 private:
  std::vector<double> slowest(const Outcome& outcome) const {
    std::vector<std::uint64_t> all(outcome.ticks.size());
    call(MPI_Reduce(outcome.ticks.data(), all.data(), static_cast<int>(all.size()), MPI_UINT64_T,
                    MPI_MAX, 0, team_.comm));
    std::vector<double> counted;
    for (std::size_t i = 0; i < all.size() && team_.rank == 0; ++i) {
      if (outcome.late[i] == 0) counted.push_back(static_cast<double>(all[i]));
    }
    return counted;
  }

  Buffers buffers_{mapped_arena};
  Starter starter_;
  Team team_;
};

void measure(Bench& bench, int rounds, const std::vector<int>& sizes, double hz) {
  for (int round = 0; round < rounds; ++round) {
    const auto nothing = by_hand::visit("nothing", 0, {});
    for (const auto name : names) {
      const Benchmark& benchmark = *find_benchmark("MPI1", name);
      for (const int bytes : sizes) {
        std::vector<double> ours, theirs;
        for (const bool our_turn : {round % 2 == 0, round % 2 != 0}) {
          if (our_turn) ours = bench.visit(benchmark, bytes);
          else theirs = by_hand::visit(std::string(name), bytes, bench.memory(benchmark, bytes));
        }
        if (round == 0 || nothing.empty() || ours.empty() || theirs.empty()) continue;
        std::printf("%d %.*s %d %.5f %.5f\n", round, static_cast<int>(name.size()), name.data(),
                    bytes, median(ours) / hz * 1e6, (median(theirs) - median(nothing)) / hz * 1e6);
      }
    }
  }
}

}  // namespace
}  // namespace mpigauge

int main(int argc, char** argv) {
  using namespace mpigauge;
  if (argc != 4) {
    std::fputs("usage: window_sync ROUNDS SIZES CORES\n", stderr);
    return 2;
  }
  platform::start_clock();
  MPI_Init(&argc, &argv);
  const auto sizes = numbers(argv[2]), cores = numbers(argv[3]);
  platform::bind({cores.at(static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)))});
  const double hz = by_hand::find_rate();
  Bench bench;
  // Memory is taken once, for the largest message, and stays where it is.
  for (const auto name : names) {
    bench.memory(*find_benchmark("MPI1", name), *std::max_element(sizes.begin(), sizes.end()));
  }
  measure(bench, std::atoi(argv[1]), sizes, hz);
  MPI_Finalize();
  return 0;
}

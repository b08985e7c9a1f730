// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What others take of the cores while ranks work: each rank does the same work, as often as the
// others, and nothing but read the clock, so that it sees when it was kept from it and how long.
// The row has the time of the work; what each core lost goes to the records "noise" of the launch.
#include "core/noise.hpp"

#include <algorithm>
#include <limits>

#include "core/benchmark.hpp"

namespace mpigauge::node {
namespace {

constexpr double call_s = 40e-3;
constexpr double row_s = 2;     // of a launch, however noisy it is
constexpr unsigned steps = 40;  // the printed time is of about a millisecond of work

// The same on all ranks, once it is found out.
std::uint64_t& readings_of_call() {
  static std::uint64_t readings = 0;
  return readings;
}

double seconds_of(std::uint64_t readings, double hz) {
  NoiseProbe trial(hz);
  trial.read(readings);
  return trial.seconds();
}

// The fastest of some trials, as others lengthen them; of all cores the fastest.
void choose_readings() {
  constexpr std::uint64_t readings = 20'000;
  constexpr int trials = 20;
  if (readings_of_call() > 0) return;
  const double hz = noise_of_benchmarks().hz();
  double least = std::numeric_limits<double>::infinity(), all = 0;
  for (int i = 0; i < trials; ++i) least = std::min(least, seconds_of(readings, hz));
  call(MPI_Allreduce(&least, &all, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
  readings_of_call() = static_cast<std::uint64_t>(readings * call_s / all);
}

void observe(Run& run) {
  const auto before = platform::taken_so_far();
  run.measure([readings = readings_of_call()](Turn) { noise_of_benchmarks().read(readings); });
  noise_of_benchmarks().was_taken(before, platform::taken_so_far());
  run.expect(0);
}

const Add added(
    Card{
        .suite = "NODE",
        .name = "Noise",
        .about = "The same work on each core, about a millisecond of it: how much longer it takes "
                 "where others take the core, and when they do.",
        .place = 350,
        .unit = Unit::none,
        .columns = Columns::parallel,
        .send = nothing,
        .recv = nothing,
        .seldom = true,
        .most_s = row_s,
        .steps = steps,
        .prepare = choose_readings,
    },
    observe);

}  // namespace
}  // namespace mpigauge::node

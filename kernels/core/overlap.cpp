// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/overlap.hpp"

#include "core/statistics.hpp"

namespace mpigauge {

namespace {

constexpr double clock_and_call_s = 100e-9;  // of a single computation, for being started and timed
constexpr double share_for_new_pace = 0.1;
constexpr double share_for_taint = 0.25;

// Of this rank; its median over samples, or in IMB's schedule the mean.
double ticks_per_call(const Run& run, Part part) {
  const auto i = static_cast<std::size_t>(part);
  const auto& ticks = run.outcome().part_ticks.at(i);
  const double all = ticks.empty() ? run.outcome().part_seconds.at(i) * ticks_per_second()
                                   : median(std::vector<double>(ticks.begin(), ticks.end()));
  return all / run.task().calls;
}

Tolerance within(double share) { return {clock_and_call_s * ticks_per_second(), share}; }

}  // namespace

Computation agree_on_computation(const Run& run) {
  const double mine = run.checking() ? 0.0 : ticks_per_call(run, Part::pure);
  double slowest = 0.0;
  call(MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, run.comm()));
  const double between = run.options().test_every_us * 1e-6 * ticks_per_second();
  const Pace own = pace();
  return {own.steps(slowest), std::max<std::uint64_t>(own.steps(between), 1), slowest};
}

void note_computation(Run& run, const Computation& asked, std::vector<std::uint64_t> sums) {
  run.take_part(Part::cpu, std::move(sums));
  if (run.checking()) return;
  const double took = ticks_per_call(run, Part::cpu);
  if (kept(asked.ticks, took, within(share_for_new_pace)) != Kept::yes) forget_pace();
  if (kept(asked.ticks, took, within(share_for_taint)) == Kept::too_slow) {
    run.taint(platform::stolen);
  }
}

}  // namespace mpigauge

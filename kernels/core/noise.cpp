// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/noise.hpp"

#include <algorithm>

namespace mpigauge {

namespace {

constexpr std::size_t most_kept = 4096;
constexpr auto real_clock = [] { return platform::ticks(); };

}  // namespace

NoiseProbe::NoiseProbe(double hz)
    : hz_(hz), least_(static_cast<platform::Ticks>(Detours::shortest_s * hz)) {
  detours_.reserve(most_kept);
}

void NoiseProbe::note(platform::Ticks start, platform::Ticks length) {
  ++count_;
  lost_ += length;
  longest_ = std::max(longest_, length);
  if (detours_.size() < most_kept) detours_.push_back({start - first_, length});
}

void NoiseProbe::run_for(double seconds) { run_for(seconds, real_clock); }

void NoiseProbe::read(std::uint64_t times) { read(times, real_clock); }

void NoiseProbe::was_taken(const platform::Taken& before, const platform::Taken& after) {
  taken_.stolen_s += after.stolen_s - before.stolen_s;
  taken_.waited_s += after.waited_s - before.waited_s;
  taken_.switches += after.switches - before.switches;
}

double NoiseProbe::lost_ratio() const {
  return observed_ > 0 ? static_cast<double>(lost_) / static_cast<double>(observed_) : 0.0;
}

Detours NoiseProbe::by_length() const {
  Detours all;
  const double each = static_cast<double>(count_) / static_cast<double>(detours_.size());
  for (const Detour& detour : detours_) all.add(static_cast<double>(detour.length) / hz_, each);
  all.observed(seconds(), static_cast<double>(lost_) / hz_);
  return all;
}

NoiseProbe& noise_of_benchmarks() {
  static NoiseProbe all(platform::clock_facts().hz);
  return all;
}

}  // namespace mpigauge

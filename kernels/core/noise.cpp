// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/noise.hpp"

#include <algorithm>

namespace mpigauge {

namespace {

constexpr double detour_s = 1e-6;
constexpr std::size_t most_kept = 4096;

}  // namespace

Listener::Listener(double hz) : hz_(hz), least_(static_cast<platform::Ticks>(detour_s * hz)) {
  detours_.reserve(most_kept);
}

void Listener::note(platform::Ticks start, platform::Ticks length) {
  ++count_;
  lost_ += length;
  longest_ = std::max(longest_, length);
  if (detours_.size() < most_kept) detours_.push_back({start - first_, length});
}

template <class More>
void Listener::listen(More more) {
  const auto start = platform::ticks();
  if (listened_ == 0) first_ = start;
  auto last = start;
  while (more(last - start)) {
    const auto now = platform::ticks();
    if (now - last > least_) [[unlikely]]
      note(last, now - last);
    last = now;
  }
  listened_ += last - start;
}

void Listener::listen_for(double seconds) {
  const auto length = static_cast<platform::Ticks>(seconds * hz_);
  listen([length](platform::Ticks so_far) { return so_far < length; });
}

void Listener::read(std::uint64_t times) {
  listen([&times](platform::Ticks) { return times-- > 0; });
}

void Listener::was_taken(const platform::Taken& before, const platform::Taken& after) {
  taken_.stolen_s += after.stolen_s - before.stolen_s;
  taken_.waited_s += after.waited_s - before.waited_s;
  taken_.switches += after.switches - before.switches;
}

double Listener::lost_ratio() const {
  return listened_ > 0 ? static_cast<double>(lost_) / static_cast<double>(listened_) : 0.0;
}

Listener& heard() {
  static Listener all(platform::clock_facts().hz);
  return all;
}

}  // namespace mpigauge

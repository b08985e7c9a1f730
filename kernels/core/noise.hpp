// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What others take of a core: a loop that does nothing but read the clock, and notes the gaps.
#pragma once

#include <cstdint>
#include <vector>

#include "core/detours.hpp"
#include "platform/clock.hpp"
#include "platform/taken.hpp"

namespace mpigauge {

/// A gap between two readings of the clock that is longer than a microsecond.
struct Detour {
  platform::Ticks start = 0;  ///< from the first reading of its probe
  platform::Ticks length = 0;
};

/// Observes the core of the thread that calls it, in one piece or in several. `clock` gives
/// ticks; another one than the platform's is for tests.
class NoiseProbe {
 public:
  /// `hz`: ticks per second.
  explicit NoiseProbe(double hz);
  template <class Clock>
  void run_for(double seconds, Clock clock);
  void run_for(double seconds);
  /// Reads the clock so often: the same work at each call, which takes longer where it is
  /// disturbed.
  template <class Clock>
  void read(std::uint64_t times, Clock clock);
  void read(std::uint64_t times);
  /// What the system says was taken between two of its readings, beside what was observed.
  void was_taken(const platform::Taken& before, const platform::Taken& after);

  [[nodiscard]] double seconds() const { return static_cast<double>(observed_) / hz_; }
  [[nodiscard]] long count() const { return count_; }
  [[nodiscard]] double lost_ratio() const;
  [[nodiscard]] double longest_s() const { return static_cast<double>(longest_) / hz_; }
  [[nodiscard]] const platform::Taken& taken() const { return taken_; }
  /// The first few thousand, in the order of time.
  [[nodiscard]] const std::vector<Detour>& detours() const { return detours_; }
  /// By their length; where not all were kept, in the proportions of those that were.
  [[nodiscard]] Detours by_length() const;
  [[nodiscard]] double hz() const { return hz_; }

 private:
  template <class Clock, class More>
  void observe(Clock clock, More more);
  void note(platform::Ticks start, platform::Ticks length);

  double hz_;
  platform::Ticks least_;
  platform::Ticks first_ = 0, observed_ = 0, lost_ = 0, longest_ = 0;
  long count_ = 0;
  platform::Taken taken_;
  std::vector<Detour> detours_;
};

template <class Clock, class More>
void NoiseProbe::observe(Clock clock, More more) {
  const auto start = clock();
  if (observed_ == 0) first_ = start;
  auto last = start;
  while (more(last - start)) {
    const auto now = clock();
    if (now - last > least_) [[unlikely]]
      note(last, now - last);
    last = now;
  }
  observed_ += last - start;
}

template <class Clock>
void NoiseProbe::run_for(double seconds, Clock clock) {
  const auto length = static_cast<platform::Ticks>(seconds * hz_);
  observe(clock, [length](platform::Ticks so_far) { return so_far < length; });
}

template <class Clock>
void NoiseProbe::read(std::uint64_t times, Clock clock) {
  observe(clock, [&times](platform::Ticks) { return times-- > 0; });
}

/// What benchmarks of this process find of it, for the record of the launch.
NoiseProbe& noise_of_benchmarks();

}  // namespace mpigauge

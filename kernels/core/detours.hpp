// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How often others take a core, by for how long, and what that does to work on several cores.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace mpigauge {

/// Detours of all cores that were observed, in classes by their length. Those of several
/// probes are added number by number; what it tells is of a core in the mean over them.
class Detours {
 public:
  /// A gap shorter than this is none.
  static constexpr double shortest_s = 1e-6;

  /// Reads SECONDS:LOST_SECONDS:LENGTH*TIMES,…; the list of lengths may be empty.
  static Detours read(const std::string& text);

  /// `times` detours that were so long. Shorter ones than there are classes for count as shortest.
  void add(double length_s, double times = 1);
  /// A core was observed so long, of which so much was lost in detours.
  void observed(double seconds, double lost_s);
  /// All that is known, as numbers that can be summed up over ranks.
  [[nodiscard]] std::span<double> numbers() { return numbers_; }

  /// How many there are in a second in which the core was not taken, of those at least so long.
  [[nodiscard]] double per_second(double least_s = 0) const;
  /// The share of the time in which others had the core.
  [[nodiscard]] double lost_ratio() const;
  /// So many of them (0.5: half) are shorter; NaN where there are none.
  [[nodiscard]] double length_s(double share) const;
  /// How probable it is that one at least so long begins in so much work on any of these cores:
  /// 1 - exp(-t N rate), as model/detours.py has it.
  [[nodiscard]] double hit_ratio(double work_s, int cores, double least_s = 0) const;
  /// The longest work on so many cores of which this share meets none; infinite where there are
  /// none.
  [[nodiscard]] double undisturbed_s(double share, int cores) const;

 private:
  static constexpr std::size_t classes = 96;  // four to a doubling: up to 17 s
  static constexpr std::size_t all_s = classes, lost_s = classes + 1;
  std::array<double, classes + 2> numbers_{};
};

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How long rounds of pairs may take, apart from any clock: all of them where there is time, else as
// many as can be measured well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace mpigauge {

class RoundBudget {
 public:
  /// `seconds`: for all rounds; 0: no bound. `least_s`: what a round needs to be worth it.
  RoundBudget(std::uint64_t rounds, double seconds, double least_s)
      : rounds_(rounds), seconds_(seconds), least_s_(least_s) {}

  /// Seconds for the next round, so long after the first began, 0: no bound; nothing when there is
  /// none, or no time for it. There is always time for the first.
  [[nodiscard]] std::optional<double> next(double elapsed_s) const {
    if (done_ == rounds_) return std::nullopt;
    if (seconds_ <= 0) return 0.0;
    const double left_s = seconds_ - elapsed_s;
    if (done_ > 0 && left_s + grace * seconds_ < took_s_) return std::nullopt;
    const double share_s = left_s / static_cast<double>(rounds_ - done_);
    return std::max({share_s, std::min(least_s_, left_s), shortest_s});
  }
  /// A round took so long, with all that is done around its measurement.
  void end_round(double took_s) {
    took_s_ = done_ == 0 ? took_s : (took_s_ + took_s) / 2;
    ++done_;
  }
  [[nodiscard]] std::uint64_t done() const { return done_; }

 private:
  static constexpr double grace = 0.1;
  static constexpr double shortest_s = 1e-3;
  std::uint64_t rounds_;
  double seconds_;
  double least_s_;
  double took_s_ = 0.0;
  std::uint64_t done_ = 0;
};

}  // namespace mpigauge

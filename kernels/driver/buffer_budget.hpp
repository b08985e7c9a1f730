// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Buffers of many ranks on few cores take seconds to fill. They are taken in steps, apart from any
// clock, and each step predicts whether there is time for the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace mpigauge {

class BufferBudget {
 public:
  /// `needs`: bytes of each case on a rank. `seconds`: of the phase; 0: no bound.
  BufferBudget(std::vector<std::size_t> needs, double seconds)
      : needs_(std::move(needs)), most_s_(std::max(most_share * seconds, always_s)) {
    std::sort(needs_.begin(), needs_.end());
    bound_ = seconds > 0;
  }

  /// Bytes of the largest case of the next step. Empty: no case is left, or no time.
  /// There is always time for the first two, which are small.
  [[nodiscard]] std::optional<std::size_t> next() const {
    if (needs_.empty() || (steps_ > 0 && taken_ >= needs_.back())) return std::nullopt;
    if (!bound_) return needs_.back();
    const std::size_t bytes =
        steps_ == 0 ? largest_up_to(needs_.back() / first_part) : largest_up_to(growth * taken_);
    const double ratio = static_cast<double>(bytes) / static_cast<double>(std::max(taken_, one));
    const bool fits = steps_ < 2 || around_s_ + ratio * (last_s_ - around_s_) <= most_s_;
    return fits ? std::optional(bytes) : std::nullopt;
  }
  /// The step that next() named took so long; the first shows what is spent around filling.
  void end_step(double took_s) {
    taken_ = next().value_or(taken_);
    if (steps_ == 0) around_s_ = took_s;
    last_s_ = std::max(took_s, around_s_);
    ++steps_;
  }
  /// Bytes up to which cases have their buffers.
  [[nodiscard]] std::size_t taken() const { return taken_; }

 private:
  // Of the seconds, that buffers may take; shorter is not worth a thought.
  static constexpr double most_share = 0.5, always_s = 0.5;
  static constexpr std::size_t growth = 8, first_part = growth * growth * growth, one = 1;

  // The largest case of at most so many bytes, but at least the smallest without buffers.
  [[nodiscard]] std::size_t largest_up_to(std::size_t bytes) const {
    const auto above = std::upper_bound(needs_.begin(), needs_.end(), bytes);
    const auto left =
        steps_ == 0 ? needs_.begin() : std::upper_bound(needs_.begin(), needs_.end(), taken_);
    return above > left ? *(above - 1) : *left;
  }

  std::vector<std::size_t> needs_;
  double most_s_;
  bool bound_ = false;
  std::size_t taken_ = 0;
  std::size_t steps_ = 0;
  double around_s_ = 0.0, last_s_ = 0.0;
};

}  // namespace mpigauge

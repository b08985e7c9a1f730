// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace mpigauge {

namespace {

constexpr std::int64_t least_warm_up = 10;
constexpr double most_trials = 1000;
constexpr double no_bound = 1e15;
constexpr std::size_t least_bytes = 4;

}  // namespace

RowFacts facts_of_row(const Card& card, const Shape& shape, Completion completion) {
  return {.bytes = shape.bytes,
          .ranks = shape.ranks,
          .rooted = has_root(card),
          .sized = card.unit != Unit::none,
          .seldom = card.seldom || completion == Completion::each};
}

bool Repetitions::adapts(const RowFacts& row) const {
  if (!row.sized || schedule_.policy == Policy::dynamic) return true;
  return schedule_.policy == Policy::automatic && !row.rooted;
}

std::int64_t Repetitions::wanted(const RowFacts& row) const {
  const std::int64_t most = row.seldom ? schedule_.seldom : schedule_.repetitions;
  if (adapts(row)) {
    if (row.bytes == 0 || !row.sized || most < 1) return most;
    const double fits = std::floor(schedule_.volume_bytes / static_cast<double>(row.bytes));
    return std::max<std::int64_t>(
        1, fits < static_cast<double>(most) ? static_cast<std::int64_t>(fits) : most);
  }
  if (schedule_.policy == Policy::off) return schedule_.repetitions;
  const auto bytes = static_cast<double>(std::max(row.bytes, least_bytes));
  const double share = schedule_.largest_bytes / (row.ranks * bytes + schedule_.largest_bytes);
  const std::int64_t n = std::llround(static_cast<double>(schedule_.repetitions) * share);
  return std::max<std::int64_t>(n / row.ranks * row.ranks, row.ranks);
}

std::int64_t Repetitions::trial(std::int64_t wanted, double first_s) {
  const double affordable = std::clamp(std::round(1 / std::max(first_s, 1e-3)), 1.0, most_trials);
  return std::min(wanted, static_cast<std::int64_t>(affordable));
}

std::int64_t Repetitions::cut(const RowFacts& row, double call_s) const {
  if (!adapts(row)) return wanted(row);
  const double in_time = 1 + schedule_.row_seconds / std::max(call_s, 1e-9);
  std::int64_t n = wanted(row);
  n = std::min(n, static_cast<std::int64_t>(std::min(in_time, no_bound)));
  if (!schedule_.user_sizes) return done_.empty() ? n : std::min(n, done_.back().repetitions);
  for (const Done& other : done_) {
    if (other.bytes > row.bytes) n = std::max(n, other.repetitions);
  }
  for (const Done& other : done_) {
    if (other.bytes < row.bytes) n = std::min(n, other.repetitions);
  }
  return n;
}

void Repetitions::note(const RowFacts& row, std::int64_t repetitions) {
  done_.push_back({row.bytes, repetitions});
}

std::int64_t Repetitions::warm_up(std::int64_t repetitions) const {
  if (!schedule_.warm_up || repetitions < 1) return 0;
  return std::max(repetitions / 10, std::min(least_warm_up, repetitions));
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/detours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/reading.hpp"

namespace mpigauge {

namespace {

constexpr double classes_of_doubling = 4;

// The length that stands for a class: its geometric middle.
double middle_s(std::size_t i) {
  return Detours::shortest_s * std::exp2((static_cast<double>(i) + 0.5) / classes_of_doubling);
}

constexpr double longest_s = 1e6;
constexpr double most_times = 1e12;

double read_seconds(std::string_view text) { return read_number<double>(text, longest_s); }

}  // namespace

Detours Detours::read(const std::string& text) {
  const auto parts = parts_of(text, ':');
  if (parts.size() != 3) refuse(text, "is not SECONDS:LOST:LENGTHS");
  Detours made;
  made.observed(read_seconds(parts[0]), read_seconds(parts[1]));
  if (parts[2].empty()) return made;
  for (const auto& entry : parts_of(parts[2], ',')) {
    const auto words = parts_of(entry, '*');
    if (words.size() != 2) refuse(entry, "is not LENGTH*TIMES");
    made.add(read_seconds(words[0]), read_number<double>(words[1], most_times));
  }
  return made;
}

void Detours::add(double length_s, double times) {
  const double at = classes_of_doubling * std::log2(std::max(length_s, shortest_s) / shortest_s);
  numbers_.at(std::min(static_cast<std::size_t>(at), classes - 1)) += times;
}

void Detours::observed(double seconds, double lost) {
  numbers_[all_s] += seconds;
  numbers_[lost_s] += lost;
}

double Detours::per_second(double least_s) const {
  const double free = numbers_[all_s] - numbers_[lost_s];
  double count = 0;
  for (std::size_t i = 0; i < classes; ++i) count += middle_s(i) >= least_s ? numbers_.at(i) : 0;
  return free > 0 ? count / free : 0;
}

double Detours::lost_ratio() const {
  return numbers_[all_s] > 0 ? numbers_[lost_s] / numbers_[all_s] : 0;
}

double Detours::length_s(double share) const {
  double all = 0, shorter = 0;
  for (std::size_t i = 0; i < classes; ++i) all += numbers_.at(i);
  for (std::size_t i = 0; i < classes; ++i) {
    shorter += numbers_.at(i);
    if (shorter > 0 && shorter >= share * all) return middle_s(i);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double Detours::hit_ratio(double work_s, int cores, double least_s) const {
  return -std::expm1(-work_s * cores * per_second(least_s));
}

double Detours::undisturbed_s(double share, int cores) const {
  const double hazard = cores * per_second();
  return hazard > 0 ? -std::log(share) / hazard : std::numeric_limits<double>::infinity();
}

}  // namespace mpigauge

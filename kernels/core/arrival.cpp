// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/arrival.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <string_view>

#include "core/reading.hpp"

namespace mpigauge {

namespace {

constexpr double microsecond = 1e-6, longest_delay_us = 1e6;

double read_us(std::string_view text) { return read_number<double>(text, longest_delay_us); }

std::string us_text(double us) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%gus", us);
  return text.data();
}

// Well mixed, as splitmix64 does it.
std::uint64_t mixed(std::uint64_t word) {
  word += 0x9E3779B97F4A7C15U;
  word = (word ^ (word >> 30U)) * 0xBF58476D1CE4E5B9U;
  word = (word ^ (word >> 27U)) * 0x94D049BB133111EBU;
  return word ^ (word >> 31U);
}

// From 0 to 1, the same wherever the numbers are.
double chance(std::uint64_t seed, std::uint64_t call, std::uint64_t rank) {
  const auto word = mixed(mixed(mixed(seed) ^ call) ^ rank);
  return static_cast<double>(word >> 11U) * 0x1p-53;
}

}  // namespace

Arrival Arrival::read(const std::string& text) {
  if (const auto equals = text.find('='); equals != std::string::npos) {
    return read_vectors(text, equals);
  }
  Arrival made;
  const auto words = parts_of(text, ':');
  if (words.size() == 1 && words[0] == "together") return made;
  if (words.size() == 3 && words[0] == "late") {
    made.kind_ = Kind::late;
    made.rank_ = read_number<int>(words[1], std::numeric_limits<int>::max());
  } else if (words.size() == 2 && words[0] == "uniform") {
    made.kind_ = Kind::uniform;
  } else if (words.size() == 2 && words[0] == "sorted") {
    made.kind_ = Kind::sorted;
  } else {
    refuse(text, "is none of together, late:RANK:TIME, uniform:TIME, sorted:TIME, NAME=VECTORS");
  }
  const double us = read_us(words.back());
  made.seconds_ = us * microsecond;
  made.name_ = text.substr(0, text.rfind(':') + 1) + us_text(us);
  return made;
}

Arrival Arrival::read_vectors(const std::string& text, std::size_t equals) {
  Arrival made;
  made.kind_ = Kind::vectors;
  made.name_ = text.substr(0, equals);
  if (made.name_.empty()) refuse(text, "has no name before its vectors");
  for (const auto vector : parts_of(std::string_view(text).substr(equals + 1), '/')) {
    auto& delays = made.vectors_.emplace_back();
    for (const auto us : parts_of(vector, '+')) delays.push_back(read_us(us) * microsecond);
    if (delays.size() != made.vectors_.front().size()) {
      refuse(made.name_, "has vectors of different numbers of ranks");
    }
  }
  return made;
}

std::string Arrival::excuse(int ranks) const {
  if (kind_ == Kind::late && rank_ >= ranks) {
    return "arrival " + name_ + ": there is no rank " + std::to_string(rank_) + " of " +
           std::to_string(ranks);
  }
  if (kind_ == Kind::vectors && static_cast<int>(vectors_.front().size()) != ranks) {
    return "arrival " + name_ + " is of " + std::to_string(vectors_.front().size()) + " ranks";
  }
  return "";
}

std::vector<double> Arrival::delays(std::uint64_t seed, std::uint64_t call, int ranks) const {
  // One after the other, so that all of them come equally often.
  if (kind_ == Kind::vectors)
    return vectors_[(mixed(seed) % vectors_.size() + call) % vectors_.size()];
  std::vector<double> delays(static_cast<std::size_t>(ranks), 0.0);
  for (std::size_t rank = 0; rank < delays.size(); ++rank) {
    if (kind_ == Kind::uniform) delays[rank] = seconds_ * chance(seed, call, rank);
    if (kind_ == Kind::sorted && ranks > 1) {
      delays[rank] = seconds_ * static_cast<double>(rank) / (ranks - 1);
    }
  }
  if (kind_ == Kind::late) delays.at(static_cast<std::size_t>(rank_)) = seconds_;
  return delays;
}

double Arrival::longest_s() const {
  double longest = seconds_;
  for (const auto& vector : vectors_) {
    longest = std::max(longest, *std::max_element(vector.begin(), vector.end()));
  }
  return longest;
}

std::string option_text(const Arrival& arrival) { return arrival.name(); }

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// When the ranks of a group come to a call: together, or each later than the first by a pattern.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mpigauge {

/// A pattern of arrivals. Every rank finds by itself when all of them come.
class Arrival {
 public:
  /// Ranks come together.
  Arrival() = default;
  /// "together"; "late:1:50", rank 1 comes 50 µs after the others; "uniform:100", each comes by
  /// chance within 100 µs; "sorted:100", one after the other, the last one 100 µs after the first;
  /// or vectors with a name as in "NAME=0+5.5/3+0": in one call rank 1 comes 5.5 µs late, in
  /// another rank 0 comes 3 µs late. Throws std::invalid_argument with the reason.
  static Arrival read(const std::string& text);

  [[nodiscard]] bool is_together() const { return kind_ == Kind::together; }
  /// What it is called in records; empty: together.
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Why a group of so many ranks cannot come like this; empty: it can.
  [[nodiscard]] std::string excuse(int ranks) const;
  /// How much later than a common start each of so many ranks comes to a call, in seconds. What is
  /// by chance follows from `seed` and the number of the call; vectors follow each other, from one
  /// that `seed` says.
  [[nodiscard]] std::vector<double> delays(std::uint64_t seed, std::uint64_t call, int ranks) const;
  /// How much later than that start the last rank comes at most, in seconds.
  [[nodiscard]] double longest_s() const;

 private:
  enum class Kind { together, late, uniform, sorted, vectors };
  static Arrival read_vectors(const std::string& text, std::size_t equals);

  Kind kind_ = Kind::together;
  std::string name_;
  int rank_ = 0;                              // of Kind::late
  double seconds_ = 0.0;                      // of all but Kind::vectors
  std::vector<std::vector<double>> vectors_;  // of Kind::vectors, in seconds
};

/// Its name, by which cells are told apart.
std::string option_text(const Arrival& arrival);

}  // namespace mpigauge

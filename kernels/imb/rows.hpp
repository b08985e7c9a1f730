// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What IMB's smaller programs (MT, P2P, HALO) share: all ranks run every row together, with a
// number of repetitions that is known beforehand.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "driver/classic.hpp"
#include "imb/grammar.hpp"
#include "imb/text.hpp"

namespace mpigauge::imb {

/// Benchmarks by their names, in any case, with blanks or commas between; all that run by default
/// where there are no names. Names that are none are a UsageError, or (where `unknown` is given)
/// put there.
std::vector<const Benchmark*> benchmarks_named(const Program& program, const Words& names,
                                               Words* unknown);

/// How often a row is called, and how long the ranks rest before it.
struct Repeat {
  std::int64_t warm_up = 0;  ///< untimed calls
  std::int64_t calls = 1;
  double pause_s = 0.0;
};

/// Tables of one program: what a row looks like, and its repetitions.
class Rows {
 public:
  using Text = std::function<std::string(const Job&, const ClassicRow&)>;
  using Repeats = std::function<Repeat(const Job&)>;
  Rows(Session& session, Text text, Repeats repeats);
  /// Runs a table and shows its rows.
  void run(const std::vector<Job>& jobs);

 private:
  void measure(const Job& job, double memory, RowSink& sink);

  Session& session_;
  Text text_;
  Repeats repeats_;
  Groups groups_;
  Visitor visitor_;
};

/// Only rank 0 of the world says something.
void say_from_rank_0(const Session& session, const std::string& text);

}  // namespace mpigauge::imb

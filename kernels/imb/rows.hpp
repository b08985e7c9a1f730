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

/// Which benchmarks are to run: names of -input and of the command line, and those of options.
struct Chosen {
  Words named, included, excluded;
};

/// The options of a program that keeps what it was told in `chosen`.
template <class Settings>
std::vector<OptionRow<Settings>> with_choice(std::vector<OptionRow<Settings>> table) {
  using S = Settings&;
  using V = const Value&;
  table.push_back({"-input", "FILE", "names of benchmarks, one a line",
                   [](S s, V v) { s.chosen.named = lines_of(v.text); }});
  table.push_back({"-include", "A,B", "run these first, beside the others",
                   [](S s, V v) { s.chosen.included.push_back(v.text); }});
  table.push_back({"-exclude", "A,B", "leave these out",
                   [](S s, V v) { s.chosen.excluded.push_back(v.text); }});
  table.push_back({"-list", "", "names of the benchmarks", [](S, V) {}});
  return table;
}

/// Those included, then those named, without those excluded; otherwise as benchmarks_named. A
/// UsageError where none is left (unless `unknown` is given).
std::vector<const Benchmark*> chosen_benchmarks(const Program& program, const Chosen& chosen,
                                                Words* unknown);
/// What -list says.
std::string list_of(const Program& program);
/// A power of two, up to the beginning of a page.
std::size_t align_of(const Value& value);

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
  /// `ranks`: of the first of the world; the others wait, asleep. 0: all of them.
  Rows(Session& session, Text text, Repeats repeats, int ranks = 0);
  /// Runs a table and shows its rows. All ranks of the world.
  void run(const std::vector<Job>& jobs);

 private:
  void run_here(const std::vector<Job>& jobs);
  void measure(const Job& job, double memory, RowSink& sink);

  Session& session_;
  Text text_;
  Repeats repeats_;
  Groups groups_;
  Visitor visitor_;
  bool some_wait_;
};

/// Only rank 0 of the world says something.
void say_from_rank_0(const Session& session, const std::string& text);

}  // namespace mpigauge::imb

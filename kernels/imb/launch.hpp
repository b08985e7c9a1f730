// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What IMB's smaller programs (MT, P2P, HALO) share: all ranks run every row together, with a
// number of repetitions that is known beforehand.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/classic.hpp"
#include "imb/grammar.hpp"
#include "imb/text.hpp"

namespace mpigauge::imb {

/// Starts MPI as the options want it, runs `tables` on all ranks, ends MPI; returns the exit
/// status. What `tables` throws as UsageError becomes one line of one rank.
int launch(const Program& program, const Options& options,
           const std::function<void(Session&)>& tables);

/// Benchmarks by their names, in any case, with blanks or commas between; all that run by default
/// where there are no names. Names that are none are a UsageError, or (where `unknown` is given)
/// put there.
std::vector<const Benchmark*> benchmarks_named(const Program& program, const Words& names,
                                               Words* unknown);

/// Runs rows of benchmarks on all ranks.
class Rows {
 public:
  explicit Rows(Session& session)
      : session_(session),
        groups_(session.ranks, session.ranks, session.rank, Multi::off, {}),
        visitor_(session, groups_) {}

  /// Whether there is memory for a row on all ranks, and it can be counted; else why not.
  std::optional<Refusal> allocate(const Job& job);
  /// The row, after so many untimed calls; right on rank 0.
  ClassicRow measure(const Job& job, std::int64_t warm, std::int64_t calls);

 private:
  Session& session_;
  Groups groups_;
  Visitor visitor_;
};

/// Only rank 0 of the world says something.
void say_from_rank_0(const Session& session, const std::string& text);

}  // namespace mpigauge::imb

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// IMB's schedule on real ranks: for each row a loop to calibrate, a tenth of the repetitions to
// warm up, the loop itself; the mean of each rank; the smallest, largest and mean of these over
// the ranks. What comes out goes to a sink.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/cases.hpp"
#include "driver/schedule.hpp"
#include "driver/session.hpp"

namespace mpigauge {

/// One row of one group, in seconds per call, as the clock saw it.
struct ClassicRow {
  std::int64_t calls = 0;
  double least = 0.0, most = 0.0, mean = 0.0;  ///< over the ranks (and threads) that count
  /// Of the rank whose calls took longest: that time, and what it timed beside it.
  double slowest = 0.0;
  double parts[part_count] = {};
  std::uint64_t wrong = 0;
  unsigned remarks = 0;
  /// Where it was sampled: whether it became as precise as was wanted, and its relative error (NaN:
  /// not known).
  bool precise = true;
  double error = 0.0;
};

/// Whether its rows have parts beside their time.
bool has_parts(const Card& card);
/// Share of the pure communication (or computation) that was hidden, 0 to 1.
double overlap_of(const ClassicRow& row, bool of_shorter);

/// Where rows go. All ranks of the groups make each call.
class RowSink {
 public:
  RowSink() = default;
  virtual ~RowSink() = default;
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;
  /// `mine`: of the own group or of all together, right on their rank 0. `all`: the rows to be
  /// shown (one of each group, or one), on rank 0 of all groups.
  virtual void row(const Job& job, const ClassicRow& mine, const std::vector<ClassicRow>& all) = 0;
  virtual void refused(const Job& job, const Refusal& why) = 0;
};

/// Runs single visits of jobs: what a schedule is made of.
class Visitor {
 public:
  Visitor(const Session& session, const Groups& groups, bool own_barriers = false);
  /// New buffers for the row, as IMB has them; false on all ranks when one of them gets none.
  bool allocate(const Job& job);
  /// Gives the buffers back.
  void release() { buffers_.reset(); }
  /// Elements that arrived wrong at one checked call, on rank 0 of those that make a row. This and
  /// visit() throw Refused, on all ranks of the groups, when the case cannot be run here.
  std::uint64_t check(const Job& job);
  /// What there was to remark at the last check, on the same rank.
  [[nodiscard]] unsigned remarks() const { return remarks_; }
  /// So many timed calls, on all ranks of the group.
  Outcome visit(const Job& job, std::int64_t calls);
  /// Largest of a number over the ranks of the own group.
  [[nodiscard]] double largest(double mine) const;
  /// What the ranks that make a row have measured in so many calls; right on their rank 0.
  [[nodiscard]] ClassicRow gather(const Outcome& mine, std::int64_t calls) const;
  /// Rows of all groups on rank 0 of all (one row where they are shown together).
  [[nodiscard]] std::vector<ClassicRow> all_groups(const ClassicRow& mine) const;
  /// The ranks whose times make one row.
  [[nodiscard]] MPI_Comm row_comm() const { return row_comm_; }

 private:
  Outcome run(const Job& job, const Task& task);

  const Groups& groups_;
  Starter starter_;
  MPI_Comm row_comm_;
  bool apart_;
  std::unique_ptr<Buffers> buffers_;
  unsigned remarks_ = 0;
  Team team_;
};

/// Runs the jobs of one table, one after the other. False on all ranks of the groups when a limit
/// ended it (Schedule::stops_at_limit).
bool run_table(Session& session, const Groups& groups, const std::vector<Job>& jobs,
               const Schedule& schedule, RowSink& sink);

/// Writes a record of each row.
class RecordSink : public RowSink {
 public:
  RecordSink(Session& session, const Groups& groups) : session_(session), groups_(groups) {}
  void row(const Job& job, const ClassicRow& mine, const std::vector<ClassicRow>& all) override;
  void refused(const Job& job, const Refusal& why) override;

 private:
  Session& session_;
  const Groups& groups_;
};

}  // namespace mpigauge

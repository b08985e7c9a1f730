// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// IMB's schedule and arithmetic, for comparison with old tables: for each row a loop to calibrate,
// a tenth of the repetitions to warm up, the loop itself; the mean of each rank; the smallest,
// largest and mean of these over the ranks.

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

#include "core/sampling.hpp"
#include "driver/cases.hpp"
#include "driver/session.hpp"
#include "record/columns.hpp"

namespace mpigauge {

namespace {

constexpr double seconds_per_row = 10;
constexpr std::uint32_t least_warm_up = 10;

struct RowTimes {
  double least = 0.0, most = 0.0, mean = 0.0;
};

class ClassicTable {
 public:
  ClassicTable(Session& session, const Groups& groups)
      : session_(session),
        groups_(groups),
        starter_(session.options.sync, groups.comm(), session.clock.hz),
        stats_comm_(session.options.multi == Multi::apart ? groups.comm() : groups.active()) {
    team_ = {groups.comm(), rank_in(groups.comm()), size_of(groups.comm()), &starter_, nullptr};
  }
  void run(const std::vector<Job>& jobs);

 private:
  void row(const Job& job);
  bool allocate(const Job& job);
  Outcome once(const Job& job, Work work, std::uint32_t calls);
  double slowest_of_group(double seconds);
  std::uint32_t calibrate(const Job& job, Work work);
  RowTimes over_ranks(double mine) const;
  void write(const Job& job, std::uint32_t calls, const RowTimes& times, std::uint64_t wrong);

  Session& session_;
  const Groups& groups_;
  Starter starter_;
  MPI_Comm stats_comm_;
  std::unique_ptr<Buffers> buffers_;  // of the row; IMB has new ones for each
  Team team_;
  std::uint32_t previous_ = 1U << 31U;
};

void ClassicTable::run(const std::vector<Job>& jobs) {
  const std::size_t memory = session_.memory_per_rank(groups_.active());
  for (const Job& job : jobs) {
    const auto reason = reason_to_skip(job.row, memory);
    if (!reason.empty()) {
      session_.write_skip(key_of(job, session_.options, groups_.groups(), -1), reason);
      continue;
    }
    if (told(groups_.active(), session_.stop_wanted())) {
      session_.interrupted = true;
      return;
    }
    const bool over = session_.options.seconds > 0 &&
                      platform::now_s() - session_.start_s > session_.options.seconds;
    if (told(groups_.active(), over)) {
      session_.timed_out = true;
      session_.write_skip(key_of(job, session_.options, groups_.groups(), -1),
                          "no time was left for it");
      continue;
    }
    row(job);
  }
}

bool ClassicTable::allocate(const Job& job) {
  int done = 1, all = 0;
  try {
    const Layout memory = layout(job.row);
    buffers_->send(contents(job.row, team_.rank), memory.send_total());
    buffers_->recv(memory.recv_total());
  } catch (const std::bad_alloc&) {
    done = 0;
  }
  call(MPI_Allreduce(&done, &all, 1, MPI_INT, MPI_MIN, groups_.active()));
  return all == 1;
}

void ClassicTable::row(const Job& job) {
  buffers_ = std::make_unique<Buffers>(Buffers::Source::mpi);
  team_.buffers = buffers_.get();
  if (!allocate(job)) {
    session_.write_skip(key_of(job, session_.options, groups_.groups(), -1),
                        "not enough memory: MPI_Alloc_mem refused");
    return;
  }
  const Outcome checked = once(job, Work::check, 1);
  std::uint64_t wrong = 0;
  call(MPI_Reduce(&checked.wrong, &wrong, 1, MPI_UINT64_T, MPI_SUM, 0, stats_comm_));
  const Work work = job.row.card->meet == Meet::each ? Work::classic_sum : Work::classic_loop;
  const std::uint32_t calls = calibrate(job, work);
  const std::uint32_t warm = std::max(calls / 10, std::min(least_warm_up, calls));
  once(job, work, warm);
  const double mine = once(job, work, calls).seconds / calls;
  write(job, calls, over_ranks(mine), wrong);
}

Outcome ClassicTable::once(const Job& job, Work work, std::uint32_t calls) {
  const Task task{work, 0, 1, calls};
  Run run(job.row, team_, task);
  job.benchmark->function(run);
  return run.take_outcome();
}

double ClassicTable::slowest_of_group(double seconds) {
  double slowest = 0.0;
  call(MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, groups_.comm()));
  return slowest;
}

// IMB's dynamic policy: at most 1000 and 40 MiB in all, cut so that a row takes no more than its
// seconds, never more than the row before.
std::uint32_t ClassicTable::calibrate(const Job& job, Work work) {
  const auto wanted =
      static_cast<std::uint32_t>(calls_of_imb(static_cast<double>(job.row.shape.bytes)));
  double per_call = slowest_of_group(once(job, work, 1).seconds);
  const double affordable = std::clamp(std::round(1 / std::max(per_call, 1e-3)), 1.0, 1000.0);
  const std::uint32_t trial = std::min(wanted, static_cast<std::uint32_t>(affordable));
  if (trial > 1) per_call = slowest_of_group(once(job, work, trial).seconds / trial);
  const double in_time = std::min(1 + seconds_per_row / std::max(per_call, 1e-9), 1e9);
  auto calls = std::min({wanted, previous_, static_cast<std::uint32_t>(in_time)});
  call(MPI_Bcast(&calls, sizeof calls, MPI_BYTE, 0, groups_.comm()));
  previous_ = calls;
  return calls;
}

RowTimes ClassicTable::over_ranks(double mine) const {
  RowTimes times;
  double sum = 0.0;
  call(MPI_Reduce(&mine, &times.least, 1, MPI_DOUBLE, MPI_MIN, 0, stats_comm_));
  call(MPI_Reduce(&mine, &times.most, 1, MPI_DOUBLE, MPI_MAX, 0, stats_comm_));
  call(MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, stats_comm_));
  times.mean = sum / size_of(stats_comm_);
  return times;
}

void ClassicTable::write(const Job& job, std::uint32_t calls, const RowTimes& times,
                         std::uint64_t wrong) {
  std::string line;
  if (rank_in(stats_comm_) == 0) {
    const double none = std::nan("");
    const Summary summary{.samples = 1,
                          .calls = calls,
                          .chunks = 1,
                          .tainted_ratio = none,
                          .p50 = times.most,
                          .rank_min = times.least,
                          .rank_avg = times.mean,
                          .rank_max = times.most,
                          .mean = times.most,
                          .best = none,
                          .p01 = none,
                          .p99 = none,
                          .worst = none,
                          .first = none};
    const Object row = cell_record_of(session_, groups_, job,
                                      {.summary = summary, .stop = "schedule", .wrong = wrong});
    line = row.text();
    session_.wrong += wrong;
    ++session_.cells;
  }
  session_.write_all(groups_.active(), line);
}

}  // namespace

void run_classic(Session& session, const Groups& groups, const std::vector<Job>& jobs) {
  ClassicTable(session, groups).run(jobs);
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/classic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "core/refused.hpp"
#include "driver/attempt.hpp"
#include "gpu/arenas.hpp"
#include "record/columns.hpp"

namespace mpigauge {

namespace {

constexpr double least_pause_s = 0.1;
constexpr double pause_share = 0.1;

class ClassicTable {
 public:
  ClassicTable(Session& session, const Groups& groups, const Schedule& schedule, RowSink& sink)
      : session_(session),
        groups_(groups),
        schedule_(schedule),
        sink_(sink),
        repetitions_(schedule),
        visitor_(session, groups, schedule.own_barriers) {}
  bool run(const std::vector<Job>& jobs);

 private:
  enum class Went { on, ended };
  Went row(const Job& job);
  Went measured(const Job& job);
  Went refused(const Job& job, const Refusal& why);
  std::int64_t calibrate(const Job& job);
  [[nodiscard]] bool too_late() const;
  void pause(double since_s) const;

  Session& session_;
  const Groups& groups_;
  Schedule schedule_;
  RowSink& sink_;
  Repetitions repetitions_;
  Visitor visitor_;
  double memory_ = 0.0;
  double rows_ = 0.0;
  double start_s_ = platform::now_s();
};

bool ClassicTable::run(const std::vector<Job>& jobs) {
  rows_ = static_cast<double>(jobs.size());
  memory_ = static_cast<double>(session_.memory_per_rank(groups_.active()));
  if (schedule_.memory_bytes > 0) memory_ = std::min(memory_, schedule_.memory_bytes);
  for (const Job& job : jobs) {
    if (broadcast_bool(groups_.active(), session_.stop_wanted())) {
      session_.interrupted = true;
      return true;
    }
    if (row(job) == Went::ended) return false;
  }
  return true;
}

ClassicTable::Went ClassicTable::refused(const Job& job, const Refusal& why) {
  sink_.refused(job, why);
  visitor_.release();
  return schedule_.stops_at_limit ? Went::ended : Went::on;
}

ClassicTable::Went ClassicTable::row(const Job& job) {
  if (const auto why = refusal_of(job.row, memory_)) return refused(job, *why);
  const bool over = session_.options.seconds > 0 &&
                    platform::now_s() - session_.start_s > session_.options.seconds;
  if (broadcast_bool(groups_.active(), over)) {
    session_.timed_out = true;
    return refused(job, {Limit::time, 0, "no time was left for it"});
  }
  if (!visitor_.allocate(job)) {
    const Layout memory = layout(job.row);
    const auto bytes = static_cast<double>(memory.send_total() + memory.recv_total());
    return refused(job, {Limit::memory, bytes, "not enough memory: MPI_Alloc_mem refused"});
  }
  try {
    const Went went = measured(job);
    visitor_.release();
    return went;
  } catch (const Refused& error) {
    // Of this row alone: others may need less of what there is not.
    sink_.refused(job, {Limit::call, 0, error.what()});
    visitor_.release();
    return Went::on;
  }
}

ClassicTable::Went ClassicTable::measured(const Job& job) {
  const double begin_s = platform::now_s();
  const std::uint64_t wrong = visitor_.check(job);
  const std::int64_t calls = calibrate(job);
  if (too_late()) return refused(job, {Limit::time, 0, "its table took longer than its time"});
  // On files there is nothing to warm up but the cache that would hide them.
  const std::int64_t warm = is_on_files(*job.row.card) ? 0 : repetitions_.warm_up(calls);
  if (warm > 0) visitor_.visit(job, warm);
  ClassicRow row = visitor_.gather(visitor_.visit(job, calls), calls);
  row.wrong = wrong;
  row.remarks = visitor_.remarks();
  session_.remarks |= row.remarks;
  pause(begin_s);
  sink_.row(job, row, visitor_.all_groups(row));
  return Went::on;
}

// One call, then as many as take a second, tell how many can be had in a row's time.
std::int64_t ClassicTable::calibrate(const Job& job) {
  const RowFacts row = facts_of_row(*job.row.card, job.row.shape, job.row.completion);
  const std::int64_t wanted = repetitions_.wanted(row);
  double call_s = 0.0;
  if (!repetitions_.adapts(row)) {
    visitor_.visit(job, wanted);
  } else {
    call_s = visitor_.largest(visitor_.visit(job, 1).seconds);
    const std::int64_t trial = Repetitions::trial(wanted, call_s);
    if (trial > 1) {
      const auto many = static_cast<double>(trial);
      call_s = visitor_.largest(visitor_.visit(job, trial).seconds / many);
    }
  }
  std::int64_t calls = repetitions_.cut(row, call_s);
  call(MPI_Bcast(&calls, sizeof calls, MPI_BYTE, 0, groups_.comm()));
  repetitions_.note(row, calls);
  return calls;
}

bool ClassicTable::too_late() const {
  if (schedule_.table_seconds <= 0) return false;
  // IMB counts sizes by -msglog, which are fewer than rows where it is short.
  const double limit = std::max(schedule_.table_seconds, rows_ * schedule_.row_seconds);
  int late = platform::now_s() - start_s_ > limit ? 1 : 0;
  int any = 0;
  call(MPI_Allreduce(&late, &any, 1, MPI_INT, MPI_MAX, groups_.active()));
  return any != 0;
}

void ClassicTable::pause(double since_s) const {
  if (!schedule_.pause) return;
  platform::sleep_s(std::max(least_pause_s, pause_share * (platform::now_s() - since_s)));
}

}  // namespace

Visitor::Visitor(const Session& session, const Groups& groups, bool own_barriers)
    : groups_(groups),
      starter_(own_barriers && session.options.sync == SyncMethod::barrier
                   ? SyncMethod::dissemination
                   : session.options.sync,
               groups.comm(), session.clock, session.one_clock),
      row_comm_(session.options.multi == Multi::apart ? groups.comm() : groups.active()),
      apart_(session.options.multi == Multi::apart) {
  team_ = {.comm = groups.comm(),
           .rank = rank_in(groups.comm()),
           .ranks = size_of(groups.comm()),
           .starter = &starter_,
           .buffers = nullptr,
           .own_barriers = own_barriers};
}

bool Visitor::allocate(const Job& job) {
  buffers_ =
      std::make_unique<Buffers>(gpu::arenas_in(job.row.memories.of_rank(team_.rank), mpi_arena));
  team_.buffers = buffers_.get();
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

std::uint64_t Visitor::check(const Job& job) {
  const Outcome mine = run(job, {Work::check});
  remarks_ = remarks_of_all(job, mine, row_comm_);
  std::uint64_t wrong = 0;
  call(MPI_Reduce(&mine.wrong, &wrong, 1, MPI_UINT64_T, MPI_SUM, 0, row_comm_));
  return wrong;
}

Outcome Visitor::visit(const Job& job, std::int64_t calls) {
  const Work work =
      meets_each(*job.row.card, job.row.completion) ? Work::classic_sum : Work::classic_loop;
  return run(job, {work, 0, 1, static_cast<std::uint32_t>(std::max<std::int64_t>(calls, 0))});
}

Outcome Visitor::run(const Job& job, const Task& task) {
  Run visit(job.row, team_, task);
  const auto why = attempt(job, visit, groups_.active());
  if (!why.empty()) throw Refused(why);
  return visit.take_outcome();
}

double Visitor::largest(double mine) const {
  double most = 0.0;
  call(MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, groups_.comm()));
  return most;
}

ClassicRow Visitor::gather(const Outcome& mine, std::int64_t calls) const {
  constexpr double none = std::numeric_limits<double>::infinity();
  const auto per_call = static_cast<double>(calls);
  // Negative, so that the largest of them is the smallest.
  double most[2] = {-none, -none};
  double sum[2] = {0.0, 0.0};
  const auto take = [&](double seconds) {
    most[0] = std::max(most[0], seconds / per_call);
    most[1] = std::max(most[1], -seconds / per_call);
    sum[0] += seconds / per_call;
    sum[1] += 1;
  };
  if (mine.counted) {
    take(mine.seconds);
    for (const double seconds : mine.thread_seconds) take(seconds);
  }
  double all_most[2], all_sum[2];
  call(MPI_Allreduce(most, all_most, 2, MPI_DOUBLE, MPI_MAX, row_comm_));
  call(MPI_Allreduce(sum, all_sum, 2, MPI_DOUBLE, MPI_SUM, row_comm_));
  struct {
    double seconds;
    int rank;
  } own{most[0], rank_in(row_comm_)}, slowest{};
  call(MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, row_comm_));
  ClassicRow row{.calls = calls,
                 .least = -all_most[1],
                 .most = all_most[0],
                 .mean = all_sum[0] / std::max(all_sum[1], 1.0)};
  double of_slowest[1 + part_count] = {most[0]};
  for (std::size_t p = 0; p < part_count; ++p) {
    of_slowest[1 + p] = mine.part_seconds.at(p) / per_call;
  }
  call(MPI_Bcast(of_slowest, 1 + part_count, MPI_DOUBLE, slowest.rank, row_comm_));
  row.slowest = of_slowest[0];
  std::copy_n(of_slowest + 1, part_count, row.parts);
  return row;
}

std::vector<ClassicRow> Visitor::all_groups(const ClassicRow& mine) const {
  if (!apart_) return {mine};
  const bool leads = team_.rank == 0;
  MPI_Comm leaders = MPI_COMM_NULL;
  const int order = rank_in(groups_.active());
  call(MPI_Comm_split(groups_.active(), leads ? 0 : MPI_UNDEFINED, order, &leaders));
  if (!leads) return {};
  std::vector<ClassicRow> all(static_cast<std::size_t>(groups_.groups()));
  call(MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, leaders));
  call(MPI_Comm_free(&leaders));
  return all;
}

bool run_table(Session& session, const Groups& groups, const std::vector<Job>& jobs,
               const Schedule& schedule, RowSink& sink) {
  return ClassicTable(session, groups, schedule, sink).run(jobs);
}

void RecordSink::row(const Job& job, const ClassicRow& mine,
                     const std::vector<ClassicRow>& /*all*/) {
  const bool leads = session_.options.multi == Multi::apart ? rank_in(groups_.comm()) == 0
                                                            : rank_in(groups_.active()) == 0;
  std::string line;
  if (leads) {
    Summary summary;
    summary.samples = 1;
    summary.calls = static_cast<std::uint32_t>(mine.calls);
    summary.chunks = 1;
    summary.tainted_ratio = std::nan("");
    summary.time_p50_s = mine.most;
    summary.time_min_s = mine.least;
    summary.time_avg_s = mine.mean;
    summary.time_max_s = mine.most;
    summary.time_mean_s = mine.most;
    summary.sync_error_s = 0;
    if (has_parts(*job.row.card)) {
      for (std::size_t p = 0; p < part_count; ++p) {
        if (mine.parts[p] > 0) summary.*time_of_part[p] = mine.parts[p];
      }
      summary.overlap_ratio = overlap_of(mine, job.row.card->of_shorter);
    }
    line =
        cell_record_of(
            session_, groups_, job,
            {.summary = summary, .stop = "schedule", .wrong = mine.wrong, .remarks = mine.remarks})
            .text();
    session_.wrong += mine.wrong;
    ++session_.cells;
  }
  session_.write_all(groups_.active(), line);
}

void RecordSink::refused(const Job& job, const Refusal& why) {
  session_.write_skip(key_of(job, session_.options, groups_.all_groups()), why.reason);
}

bool has_parts(const Card& card) {
  return card.columns == Columns::overlap || card.columns == Columns::passive;
}

double overlap_of(const ClassicRow& row, bool of_shorter) {
  const double pure = row.parts[static_cast<std::size_t>(Part::pure)];
  const double cpu = row.parts[static_cast<std::size_t>(Part::cpu)];
  return overlap(pure, cpu, row.slowest, of_shorter);
}

void run_classic(Session& session, const Groups& groups, const std::vector<Job>& jobs) {
  RecordSink sink(session, groups);
  Schedule schedule;
  schedule.repetitions = session.options.repetitions;
  schedule.seldom = std::min(schedule.seldom, schedule.repetitions);
  run_table(session, groups, jobs, schedule, sink);
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The sampling of core/sampling.hpp on real ranks: rank 0 of the active ranks plans each round and
// tells the others, every rank visits, the leader of each group collects what its ranks measured.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <set>

#include "core/knobs.hpp"
#include "core/sampling.hpp"
#include "driver/attempt.hpp"
#include "driver/buffer_budget.hpp"
#include "driver/cases.hpp"
#include "driver/pair_rows.hpp"
#include "driver/session.hpp"
#include "gpu/arenas.hpp"
#include "record/records.hpp"

namespace mpigauge {

namespace {

constexpr double seldom_calls = 100;  // of what is so slow that IMB repeats it no more often
constexpr double progress_every_s = 0.5;
constexpr std::size_t most_progress_lines = 48;
constexpr double write_every_s = 0.2;
constexpr double renew_clock_every_s = 5.0;
// Of a call, that the start by a common clock may be wrong by.
constexpr double most_sync_error = 0.05;
// Windows are wider after so many samples of which many were missed, narrower where few were.
constexpr std::size_t samples_for_width = 40;
constexpr double many_missed = 0.2, few_missed = 0.02;

// How a visit travels to the leader: blocks with a number for each sample...
enum Block : std::size_t { slowest, fastest, late, first_part };
// ...then what there is once.
constexpr std::size_t taint_bits = 3;
constexpr std::size_t once_first = 0;
constexpr std::size_t once_taint = 1;
constexpr std::size_t once_parts = once_taint + taint_bits;
constexpr std::size_t once_count = once_parts + part_count;

// What one rank measured at a visit, so that one reduction brings the slowest, the fastest (as a
// negative), late starts, the parts and what there is once; and a second one the sum over all
// threads of all ranks.
class Parcel {
 public:
  explicit Parcel(std::size_t samples);
  /// `counted`: the times of this rank say something about the benchmark.
  void put(const Outcome& outcome, bool counted);
  /// Brings together what all ranks of the row measured: what is greatest, and sums.
  template <class Reduce>
  void reduce(Reduce reduce) {
    reduce(most_, MPI_MAX);
    reduce(sum_, MPI_SUM);
  }
  void unpack(Chunk& chunk) const;

 private:
  void take(const std::vector<std::uint64_t>& ticks);
  [[nodiscard]] std::size_t at(std::size_t block, std::size_t i) const { return block * n_ + i; }
  void unpack_sample(Chunk& chunk, std::size_t i) const;

  std::size_t n_;
  std::size_t once_;
  bool has_own_ = false;
  std::vector<std::int64_t> most_, sum_;  // the sum of ticks, then of own, then how many there are
};

Parcel::Parcel(std::size_t samples)
    : n_(samples),
      once_(at(first_part + part_count, 0)),
      most_(once_ + once_count, 0),
      sum_(2 * n_ + 1, 0) {
  std::fill_n(&most_[at(fastest, 0)], n_, std::numeric_limits<std::int64_t>::min() + 1);
}

void Parcel::take(const std::vector<std::uint64_t>& ticks) {
  for (std::size_t i = 0; i < n_; ++i) {
    // A call may be over before an empty window would be, and no time is nothing.
    const auto mine = std::max<std::int64_t>(static_cast<std::int64_t>(ticks[i]), 1);
    most_[at(slowest, i)] = std::max(most_[at(slowest, i)], mine);
    most_[at(fastest, i)] = std::max(most_[at(fastest, i)], -mine);
    sum_[i] += mine;
  }
  sum_.back() += 1;
}

void Parcel::put(const Outcome& outcome, bool counted) {
  if (counted) {
    take(outcome.ticks);
    has_own_ = !outcome.own.empty();
    std::copy(outcome.own.begin(), outcome.own.end(), &sum_[n_]);
    for (const auto& ticks : outcome.thread_ticks) take(ticks);
    most_[once_ + once_first] = static_cast<std::int64_t>(outcome.first);
  }
  for (std::size_t i = 0; i < outcome.late.size(); ++i) most_[at(late, i)] = outcome.late[i];
  for (std::size_t p = 0; p < part_count; ++p) {
    const auto& ticks = outcome.part_ticks.at(p);
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      most_[at(first_part + p, i)] = static_cast<std::int64_t>(ticks[i]);
    }
    most_[once_ + once_parts + p] = ticks.empty() ? 0 : 1;
  }
  for (std::size_t bit = 0; bit < taint_bits; ++bit) {
    most_[once_ + once_taint + bit] = (outcome.taint >> bit & 1U) != 0 ? 1 : 0;
  }
}

void Parcel::unpack(Chunk& chunk) const {
  chunk.first = static_cast<std::uint64_t>(most_[once_ + once_first]);
  for (std::size_t bit = 0; bit < taint_bits; ++bit) {
    if (most_[once_ + once_taint + bit] != 0) chunk.taint |= 1U << bit;
  }
  // A sample for which a rank came late does not count, unless there is no other.
  const auto first_late = most_.begin() + static_cast<std::ptrdiff_t>(at(late, 0));
  const auto end = first_late + static_cast<std::ptrdiff_t>(n_);
  const bool none = std::find(first_late, end, 0) == end;
  if (none) chunk.taint |= platform::Taint::missed;
  for (std::size_t i = 0; i < n_; ++i) {
    if (none || most_[at(late, i)] == 0) unpack_sample(chunk, i);
  }
}

void Parcel::unpack_sample(Chunk& chunk, std::size_t i) const {
  const auto counted = std::max<std::int64_t>(sum_.back(), 1);
  chunk.slowest.push_back(static_cast<std::uint64_t>(most_[at(slowest, i)]));
  chunk.fastest.push_back(static_cast<std::uint64_t>(-most_[at(fastest, i)]));
  chunk.mean.push_back(static_cast<std::uint64_t>(sum_[i] / counted));
  if (has_own_) chunk.own.push_back(static_cast<std::uint64_t>(sum_[n_ + i] / counted));
  for (std::size_t p = 0; p < part_count; ++p) {
    if (most_[once_ + once_parts + p] == 0) continue;
    chunk.parts.at(p).push_back(static_cast<std::uint64_t>(most_[at(first_part + p, i)]));
  }
}

// A round as it travels: a head, then the visits.
struct RoundHead {
  std::uint32_t number = 0;
  std::uint32_t fresh_buffers = 0;
  std::uint32_t visits = 0;
  std::uint32_t renew_clock = 0;
  std::uint32_t write = 0;  // leaders hand in the rows that are finished
  std::uint32_t widen = 0;
  std::uint32_t narrow = 0;
};

// What becomes of a visit, as rank 0 decides.
enum class Verdict : unsigned char { go_on, shorten, leave_out, stop };

// A cell in all its variants.
std::string name_of(const Job& job) {
  const Card& card = *job.row.card;
  return std::string(card.suite) + ':' + std::string(card.name) + '/' +
         std::to_string(job.row.shape.ranks) + '/' + std::to_string(job.row.shape.bytes);
}

// Calls of ranks that come apart are each timed by themselves, barriers too.
bool is_apart(const Job& job) {
  const Card& card = *job.row.card;
  return meets_each(card, job.row.completion) || comes_apart(card, job.row.shape);
}

// Pairs of the same round together and alone, and what is measured beside others.
bool is_compared_by_round(const Card& card) {
  return card.by_pair || card.options.has(SuiteOption::aggressors);
}

bool may_be_by_clock(const Job& job) { return is_apart(job) && !is_threaded(*job.row.card); }

// What fresh data begin with differs from visit to visit.
constexpr std::uint32_t writes_between_rounds = 97;

std::uint32_t most_calls(const Case& row) {
  return row.shape.fresh ? static_cast<std::uint32_t>(layout(row).slots) : 0;
}

// Of a rank, for all that a case sends and receives.
std::size_t buffer_bytes(const Job& job) {
  const Layout size = layout(job.row);
  return size.send_total() + size.recv_total();
}

std::vector<std::uint32_t> cells_of(const Round& round) {
  std::vector<std::uint32_t> cells;
  for (const Visit& visit : round.visits) cells.push_back(visit.cell);
  return cells;
}

class AdaptivePhase {
 public:
  AdaptivePhase(Session& session, const Groups& groups, const std::vector<Job>& jobs,
                double seconds);
  void run();

 private:
  void choose_jobs(const std::vector<Job>& jobs);
  void make_starter(const std::vector<Job>& jobs);
  void choose_sync();
  void set_sync(const std::set<std::string>& by_clock);
  void note_missed(const Visit& visit, const Chunk& chunk);
  [[nodiscard]] std::vector<std::uint32_t> jobs_up_to(std::size_t bytes) const;
  void take_buffers(std::size_t memory);
  void drop_above(std::size_t bytes);
  bool reserve_buffers(const std::vector<std::uint32_t>& which);
  void drop_largest(std::size_t memory);
  Buffers& buffers_in(Memory memory);
  void drop_buffers();
  RoundHead share(Round& round);
  void adjust_starter(const RoundHead& head);
  bool visit(const Round& round, const Visit& visit);
  bool begin(const Round& round, const Visit& visit);
  [[nodiscard]] Verdict agree(Verdict verdict) const;
  [[nodiscard]] Verdict before(const Visit& visit) const;
  void leave_out(const Round& round, const Visit& visit);
  [[nodiscard]] Verdict after_call(const Visit& visit, double call_s) const;
  bool measure(const Round& round, const Visit& visit);
  bool attempted(std::uint32_t cell, Run& run);
  bool check_data(const Visit& visit);
  void collect(const Round& round, const Visit& visit, const Outcome& outcome, double start_s);
  void write_matching(const Round& round, const Visit& visit, const Outcome& outcome);
  void add_beside(std::uint32_t cell, const Outcome& outcome);
  std::vector<std::uint8_t> wanted_by_other_groups();
  void report_first(const Visit& visit);
  void write_progress();
  std::string rows(bool all);
  Object row(std::size_t i);
  void count(std::size_t i);
  [[nodiscard]] bool is_measured(std::size_t i) const;
  void hand_in(const std::string& lines);
  void write_blocks();
  void write_block(std::size_t i, bool has_row);
  void reduce_row(std::vector<std::int64_t>& values, MPI_Op op) const;
  [[nodiscard]] Measured measured(std::size_t i) const;
  [[nodiscard]] std::string raw_text(std::size_t i) const;
  [[nodiscard]] Object cell_record(std::size_t i) const;
  [[nodiscard]] std::string why_empty(std::size_t i) const;

  [[nodiscard]] Whose whose() const {
    return session_.options.multi == Multi::apart ? groups_.own_group() : groups_.all_groups();
  }
  [[nodiscard]] Memory memory_of(const Job& job) const {
    return job.row.memories.of_rank(team_.rank);
  }
  [[nodiscard]] bool leads_all() const { return active_rank_ == 0; }
  [[nodiscard]] bool leads() const { return stats_rank_ == 0; }
  // Between pairs that measure, and only takes part in what all ranks decide.
  [[nodiscard]] bool rests() const { return !groups_.member(); }
  [[nodiscard]] bool in_pairs() const { return session_.options.pairs.has_value(); }
  [[nodiscard]] bool counts(const Job& job) const {
    const bool as_one_sees_it = job.row.card->time == Time::half_round_trip;
    return !as_one_sees_it || job.row.card->ranks != Ranks::pair || team_.rank == 0;
  }

  Session& session_;
  const Groups& groups_;
  std::vector<Job> jobs_;
  Rules rules_;
  std::map<Memory, Buffers> buffers_;  // by where they are on this rank
  Starter starter_;
  Knobs knobs_;
  Team team_;
  MPI_Comm stats_comm_;  // ranks whose samples make one row
  int stats_rank_ = 0;
  int active_rank_;
  std::vector<Sampling> sampling_;                // one, made when the jobs are known
  std::map<std::uint32_t, std::string> refused_;  // cells that cannot be run here, and why
  std::vector<std::uint64_t> wrong_;
  std::vector<unsigned> remarks_;
  std::vector<Beside> beside_;  // of the other ranks at all visits to a cell
  std::vector<unsigned> shown_;
  std::vector<bool> written_;
  double shown_at_s_ = 0.0;
  double written_at_s_ = platform::now_s();
  double clock_at_s_ = platform::now_s();
  double buffers_s_ = 0.0;      // that it took to fill the buffers of all cells
  bool clock_by_cell_ = false;  // each cell has the clock or a barrier, as exact as the clock is
  std::size_t started_ = 0, missed_ = 0;  // samples by the clock, on rank 0
};

AdaptivePhase::AdaptivePhase(Session& session, const Groups& groups, const std::vector<Job>& jobs,
                             double seconds)
    : session_(session),
      groups_(groups),
      knobs_(session.options.arms, groups.comm()),
      stats_comm_(session.options.multi == Multi::apart ? groups.comm() : groups.active()),
      active_rank_(rank_in(groups.active())) {
  const bool apart = session.options.multi == Multi::apart;
  stats_rank_ = apart ? groups.rank() : active_rank_;
  rules_ = session.rules(seconds, apart ? groups.size() : size_of(stats_comm_));
  // A round of pairs begins only if there is time for it, by what the one before took. A launch
  // whose start took all of the time has something, too.
  rules_.at_least_one = in_pairs() || session.cells == 0;
  make_starter(jobs);
  team_ = {.comm = groups.comm(),
           .rank = std::max(groups.rank(), 0),
           .ranks = std::max(groups.size(), 1),
           .starter = &starter_,
           .addresses = groups.addresses()};
  choose_jobs(jobs);
}

void AdaptivePhase::make_starter(const std::vector<Job>& jobs) {
  const Options& o = session_.options;
  const auto by_clock = [](const Job& job) { return job.sync == SyncMethod::clock; };
  clock_by_cell_ = o.sync == SyncMethod::automatic && !session_.one_clock &&
                   !session_.oversubscribed &&
                   std::any_of(jobs.begin(), jobs.end(), may_be_by_clock);
  const bool windows = clock_by_cell_ || std::any_of(jobs.begin(), jobs.end(), by_clock);
  starter_ = Starter(windows ? SyncMethod::clock : SyncMethod::barrier, groups_.comm(),
                     session_.clock, session_.one_clock);
}

// Across hosts, after the first round: the clock for those cells of which it is exact enough for
// every variant, the same on all ranks.
void AdaptivePhase::choose_sync() {
  std::vector<std::uint8_t> exact(jobs_.size(), 0);
  if (leads_all()) {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const double call_ticks = sampling_[0].cells()[i].warm_call();
      exact[i] = starter_.error_ticks() <= most_sync_error * call_ticks ? 1 : 0;
    }
  }
  call(MPI_Bcast(exact.data(), static_cast<int>(exact.size()), MPI_BYTE, 0, groups_.active()));
  std::set<std::string> by_clock, not_exact;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    (exact[i] != 0 ? by_clock : not_exact).insert(name_of(jobs_[i]));
  }
  for (const auto& name : not_exact) by_clock.erase(name);
  set_sync(by_clock);
}

void AdaptivePhase::set_sync(const std::set<std::string>& by_clock) {
  for (Job& job : jobs_) {
    if (may_be_by_clock(job) && by_clock.contains(name_of(job))) job.sync = SyncMethod::clock;
  }
}

void AdaptivePhase::choose_jobs(const std::vector<Job>& jobs) {
  const std::size_t memory = session_.memory_per_rank(groups_.active());
  for (const Job& job : jobs) {
    const auto why = refusal_of(job.row, static_cast<double>(memory));
    const auto of_arm = knobs_.refusal(job.arm);
    if (!why && of_arm.empty()) jobs_.push_back(job);
    else
      session_.write_skip(key_of(job, session_.options, groups_.all_groups()),
                          why ? why->reason : std::string(of_arm));
  }
  take_buffers(memory);
  std::vector<Goal> goals;
  for (const Job& job : jobs_) {
    const auto bytes = static_cast<double>(job.row.shape.bytes);
    const bool seldom = job.row.card->seldom;
    const double calls = std::min(calls_of_imb(bytes), seldom ? seldom_calls : calls_of_imb(0));
    // Completed together, so that how many they are is part of what is measured.
    const bool together = job.row.completion == Completion::end;
    const bool by_clock = job.sync == SyncMethod::clock;
    double wait = by_clock ? starter_.wait_ticks() : 0.0;
    if (comes_apart(*job.row.card, job.row.shape)) {
      wait += job.row.shape.options->arrival.longest_s() * rules_.hz;
    }
    goals.push_back({calls, !is_apart(job), together ? static_cast<std::uint32_t>(calls) : 0,
                     most_calls(job.row), job.row.card->most_s, job.arms_of, wait,
                     is_compared_by_round(*job.row.card), job.row.card->by_pair});
  }
  sampling_.emplace_back(rules_, goals, platform::now_s());
  wrong_.assign(jobs_.size(), 0);
  remarks_.assign(jobs_.size(), 0);
  beside_.assign(jobs_.size(), {});
  shown_.assign(jobs_.size(), 0);
  written_.assign(jobs_.size(), false);
}

std::vector<std::uint32_t> AdaptivePhase::jobs_up_to(std::size_t bytes) const {
  std::vector<std::uint32_t> which;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (buffer_bytes(jobs_[i]) <= bytes) which.push_back(static_cast<std::uint32_t>(i));
  }
  return which;
}

// Takes the memory of all cases for which there is time; the others are left out. A round of pairs
// is planned as a whole.
void AdaptivePhase::take_buffers(std::size_t memory) {
  std::vector<std::size_t> needs;
  for (const Job& job : jobs_) needs.push_back(buffer_bytes(job));
  BufferBudget budget(needs, in_pairs() ? 0.0 : rules_.seconds);
  while (const auto bytes = budget.next()) {
    const double start_s = platform::now_s();
    while (!reserve_buffers(jobs_up_to(*bytes))) drop_largest(memory);
    double took_s = platform::now_s() - start_s;
    call(MPI_Bcast(&took_s, 1, MPI_DOUBLE, 0, groups_.active()));
    budget.end_step(took_s);
    buffers_s_ += took_s;
  }
  drop_above(budget.taken());
}

void AdaptivePhase::drop_above(std::size_t bytes) {
  const auto dropped = std::stable_partition(
      jobs_.begin(), jobs_.end(), [&](const Job& job) { return buffer_bytes(job) <= bytes; });
  if (dropped != jobs_.end()) session_.timed_out = true;
  for (auto job = dropped; job != jobs_.end(); ++job) {
    session_.write_skip(key_of(*job, session_.options, groups_.all_groups()), no_time);
  }
  jobs_.erase(dropped, jobs_.end());
}

// Takes the memory of the largest of these cases of each kind, so that no visit has to grow it;
// false on all ranks when one of them could not.
bool AdaptivePhase::reserve_buffers(const std::vector<std::uint32_t>& which) {
  std::map<std::pair<Memory, Contents>, std::size_t> send;
  std::map<Memory, std::size_t> recv;
  for (const auto i : which) {
    const Layout size = layout(jobs_[i].row);
    const Memory memory = memory_of(jobs_[i]);
    std::size_t& most = send[{memory, contents(jobs_[i].row, team_.rank)}];
    most = std::max(most, size.send_total());
    recv[memory] = std::max(recv[memory], size.recv_total());
  }
  int done = 1, all = 0;
  try {
    for (const auto& [what, bytes] : send) buffers_in(what.first).send(what.second, bytes);
    for (const auto& [memory, bytes] : recv) buffers_in(memory).recv(bytes);
  } catch (const std::bad_alloc&) {
    drop_buffers();
    done = 0;
  }
  call(MPI_Allreduce(&done, &all, 1, MPI_INT, MPI_MIN, groups_.active()));
  return all == 1;
}

Buffers& AdaptivePhase::buffers_in(Memory memory) {
  return buffers_.try_emplace(memory, gpu::arenas_in(memory, mapped_arena)).first->second;
}

void AdaptivePhase::drop_buffers() {
  for (auto& [memory, buffers] : buffers_) buffers.drop();
}

void AdaptivePhase::drop_largest(std::size_t memory) {
  const auto largest = std::max_element(
      jobs_.begin(), jobs_.end(),
      [&](const Job& a, const Job& b) { return buffer_bytes(a) < buffer_bytes(b); });
  session_.write_skip(key_of(*largest, session_.options, groups_.all_groups()),
                      "not enough memory: the system refused buffers of " +
                          std::to_string(buffer_bytes(*largest)) + " bytes, though " +
                          std::to_string(memory) + " seemed free");
  jobs_.erase(largest);
}

void AdaptivePhase::run() {
  if (const auto& known = session_.options.by_clock; clock_by_cell_ && known) {
    set_sync({known->begin(), known->end()});
  }
  for (bool on = !jobs_.empty(); on;) {
    const auto others = wanted_by_other_groups();
    if (session_.stop_wanted()) sampling_[0].interrupt();
    Round round = sampling_[0].next(platform::now_s(), others);
    const RoundHead head = share(round);
    on = head.visits > 0;
    if (head.write != 0 && !in_pairs()) hand_in(rows(false));
    // Fresh ones only for what is still visited: mapping large ones takes longer than short calls.
    if (head.fresh_buffers != 0) drop_buffers();
    if (!reserve_buffers(cells_of(round))) throw std::bad_alloc();
    adjust_starter(head);
    if (clock_by_cell_ && head.number == 1 && !session_.options.by_clock) choose_sync();
    for (const Visit& v : round.visits) {
      on = on && visit(round, v);
      if (round.number == 0) report_first(v);
    }
    write_progress();
  }
  if (in_pairs()) write_blocks();
  else hand_in(rows(true));
}

// A first round of slow calls must be no silence: mpigauge would end the launch. A later round is
// not delayed between its visits.
void AdaptivePhase::report_first(const Visit& visit) {
  if (refused_.contains(visit.cell) && !in_pairs()) hand_in(rows(false));
  else write_progress();
}

void AdaptivePhase::adjust_starter(const RoundHead& head) {
  if (head.renew_clock != 0) starter_.renew();
  if (head.widen != 0) starter_.widen();
  if (head.narrow != 0) starter_.narrow();
}

// Rank 0 fills the head, and everybody gets it and the visits.
RoundHead AdaptivePhase::share(Round& round) {
  RoundHead head{.number = round.number, .visits = static_cast<std::uint32_t>(round.visits.size())};
  const double now = platform::now_s();
  const bool in_time = sampling_[0].has_time_for(buffers_s_, now);
  head.fresh_buffers = round.fresh_buffers && head.visits > 0 && in_time ? 1U : 0U;
  if (leads_all() && starter_.wanders() && round.number > 0 &&
      now - clock_at_s_ > renew_clock_every_s) {
    head.renew_clock = 1;
    clock_at_s_ = now;
  }
  if (started_ >= samples_for_width) {
    const double share = static_cast<double>(missed_) / static_cast<double>(started_);
    head.widen = share > many_missed ? 1 : 0;
    head.narrow = share < few_missed ? 1 : 0;
    started_ = missed_ = 0;
  }
  if (leads_all() && now - written_at_s_ > write_every_s) {
    head.write = 1;
    written_at_s_ = now;
  }
  call(MPI_Bcast(&head, sizeof head, MPI_BYTE, 0, groups_.active()));
  round.number = head.number;
  round.visits.resize(head.visits);
  call(MPI_Bcast(round.visits.data(), static_cast<int>(head.visits * sizeof(Visit)), MPI_BYTE, 0,
                 groups_.active()));
  return head;
}

// With a row per group, a cell goes on for all as long as one group wants it.
std::vector<std::uint8_t> AdaptivePhase::wanted_by_other_groups() {
  if (session_.options.multi != Multi::apart || groups_.groups() == 1) return {};
  std::vector<std::uint8_t> mine(jobs_.size(), 0), all(jobs_.size(), 0);
  if (leads()) mine = sampling_[0].unfinished();
  call(MPI_Reduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_BYTE, MPI_BOR, 0,
                  groups_.active()));
  return all;
}

// All ranks learn how rank 0 decides.
Verdict AdaptivePhase::agree(Verdict verdict) const {
  auto told = static_cast<unsigned char>(verdict);
  call(MPI_Bcast(&told, 1, MPI_BYTE, 0, groups_.active()));
  return static_cast<Verdict>(told);
}

Verdict AdaptivePhase::before(const Visit& visit) const {
  if (!leads_all()) return Verdict::go_on;
  const double now_s = platform::now_s();
  if (session_.stop_wanted() || sampling_[0].out_of_time(now_s)) return Verdict::stop;
  return sampling_[0].is_in_time(visit, now_s) ? Verdict::go_on : Verdict::leave_out;
}

bool AdaptivePhase::visit(const Round& round, const Visit& visit) {
  const Verdict verdict = visit.ask != 0 ? agree(before(visit)) : Verdict::go_on;
  if (verdict == Verdict::stop) return false;
  if (verdict == Verdict::leave_out) leave_out(round, visit);
  if (verdict == Verdict::leave_out || refused_.contains(visit.cell)) return true;
  team_.comm = knobs_.choose(jobs_[visit.cell].arm);
  team_.buffers = &buffers_in(memory_of(jobs_[visit.cell]));
  if (round.number > 0 || begin(round, visit)) measure(round, visit);
  return true;
}

// Of its first visit a cell that is left out has nothing, and gets no other.
void AdaptivePhase::leave_out(const Round& round, const Visit& visit) {
  if (round.number == 0) sampling_[0].leave_out(visit.cell);
}

// The first calls of a cell. Where they take so long that a whole visit would take longer than the
// cell may, or than there is time, a single timed one is all of it, if there is time for that.
// False on all ranks when nothing is left of the visit.
bool AdaptivePhase::begin(const Round& round, const Visit& visit) {
  double start_s = platform::now_s();
  if (!check_data(visit)) return false;
  double call_s = platform::now_s() - start_s;
  sampling_[0].note_first_call(call_s);
  const Verdict verdict = after_call(visit, call_s);
  if (verdict == Verdict::leave_out) leave_out(round, visit);
  if (verdict != Verdict::shorten) return verdict == Verdict::go_on;
  // The first call of all may have connected the ranks, so another one is timed.
  start_s = platform::now_s();
  if (!measure(round, {.cell = visit.cell})) return false;
  call_s = platform::now_s() - start_s;
  if (after_call(visit, call_s) == Verdict::go_on) return true;
  sampling_[0].shorten(visit.cell, call_s);
  return false;
}

// What is left to do of a first visit where a call took so many seconds.
Verdict AdaptivePhase::after_call(const Visit& visit, double call_s) const {
  if (rules_.cell_seconds <= 0 && rules_.seconds <= 0) return Verdict::go_on;
  if (!leads_all()) return agree(Verdict::go_on);
  const double now_s = platform::now_s();
  if (!sampling_[0].has_time_for_one(call_s, now_s)) return agree(Verdict::leave_out);
  const bool too_long = sampling_[0].is_too_long(visit, call_s, now_s);
  return agree(too_long ? Verdict::shorten : Verdict::go_on);
}

// False on all ranks when the cell turns out to be one that cannot be run here.
bool AdaptivePhase::measure(const Round& round, const Visit& visit) {
  const Job& job = jobs_[visit.cell];
  const Task task{
      is_apart(job) ? Work::apart : Work::chain,  visit.warm,  visit.samples, visit.calls,
      (round.number + 1) * writes_between_rounds, round.number};
  const double start_s = platform::now_s();
  starter_.use(job.sync);
  Run run(job.row, team_, task);
  if (!attempted(visit.cell, run)) return false;
  if (!rests()) collect(round, visit, run.take_outcome(), start_s);
  return true;
}

// False on all ranks when the cell turns out to be one that cannot be run here.
bool AdaptivePhase::attempted(std::uint32_t cell, Run& run) {
  const auto why = rests() ? attempt_of_others(jobs_[cell], groups_.active())
                           : attempt(jobs_[cell], run, groups_.active());
  if (why.empty()) return true;
  refused_[cell] = why;
  sampling_[0].give_up(cell);
  return false;
}

bool AdaptivePhase::check_data(const Visit& visit) {
  const Job& job = jobs_[visit.cell];
  const Task task{Work::check};
  Run run(job.row, team_, task);
  if (!attempted(visit.cell, run)) return false;
  if (rests()) return true;
  const Outcome outcome = run.take_outcome();
  if (!outcome.expected) {
    throw std::logic_error(std::string(job.row.card->name) + " does not check its data");
  }
  std::vector<std::int64_t> all{static_cast<std::int64_t>(outcome.wrong)};
  reduce_row(all, MPI_SUM);
  wrong_[visit.cell] += leads() ? static_cast<std::uint64_t>(all.front()) : 0;
  remarks_[visit.cell] |= remarks_of_all(job, outcome, stats_comm_);
  session_.remarks |= remarks_[visit.cell];
  return true;
}

void AdaptivePhase::collect(const Round& round, const Visit& visit, const Outcome& outcome,
                            double start_s) {
  Parcel parcel(visit.samples);
  parcel.put(outcome, outcome.counted && counts(jobs_[visit.cell]));
  parcel.reduce([this](auto& values, MPI_Op op) { reduce_row(values, op); });
  if (jobs_[visit.cell].row.card->by_pair) write_matching(round, visit, outcome);
  if (jobs_[visit.cell].row.card->options.has(SuiteOption::aggressors)) {
    add_beside(visit.cell, outcome);
  }
  if (!leads()) return;
  Chunk chunk;
  chunk.round = round.number;
  chunk.calls = visit.calls;
  parcel.unpack(chunk);
  note_missed(visit, chunk);
  sampling_[0].add(visit.cell, std::move(chunk), platform::now_s() - start_s);
}

void AdaptivePhase::write_matching(const Round& round, const Visit& visit, const Outcome& outcome) {
  const std::size_t meetings = outcome.pair_times.size();
  const auto ranks = static_cast<std::size_t>(size_of(stats_comm_));
  std::vector<PairTime> all(leads() ? ranks * meetings : 0);
  const int bytes = static_cast<int>(meetings * sizeof(PairTime));
  call(MPI_Gather(outcome.pair_times.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0,
                  stats_comm_));
  if (!leads() || session_.writer == nullptr) return;
  std::vector<std::uint64_t> pairs, times;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t rank = i / meetings;
    const auto partner = static_cast<std::size_t>(all[i].partner);
    if (all[i].partner < 0 || partner < rank) continue;
    pairs.insert(pairs.end(), {rank, partner});
    const double ticks = std::max(all[i].ticks, all[partner * meetings + i % meetings].ticks);
    times.push_back(static_cast<std::uint64_t>(std::llround(ticks / rules_.hz * 1e9)));
  }
  session_.writer->write(
      object_of(records::Matching{.launch = session_.options.launch,
                                  .round = round.number,
                                  .key = key_of(jobs_[visit.cell], session_.options, whose()),
                                  .pairs = pairs,
                                  .time_ns = times}));
}

void AdaptivePhase::add_beside(std::uint32_t cell, const Outcome& outcome) {
  const Beside& mine = outcome.beside;
  const std::array<double, 3> sent{mine.bytes, mine.seconds, mine.stopped ? 1.0 : 0.0};
  std::array<double, 3> all{};
  call(MPI_Reduce(sent.data(), all.data(), 3, MPI_DOUBLE, MPI_SUM, 0, stats_comm_));
  beside_[cell].bytes += all[0];
  beside_[cell].seconds += all[1];
  beside_[cell].stopped |= all[2] > 0;
}

void AdaptivePhase::reduce_row(std::vector<std::int64_t>& values, MPI_Op op) const {
  if (session_.options.multi == Multi::apart) return groups_.reduce(values, op);
  const auto mine = values;
  call(MPI_Reduce(mine.data(), values.data(), static_cast<int>(mine.size()), MPI_INT64_T, op, 0,
                  stats_comm_));
}

void AdaptivePhase::note_missed(const Visit& visit, const Chunk& chunk) {
  if (!leads_all() || jobs_[visit.cell].sync != SyncMethod::clock) return;
  started_ += visit.samples;
  const bool none = (chunk.taint & platform::Taint::missed) != 0;
  missed_ += none ? visit.samples : visit.samples - chunk.slowest.size();
}

void AdaptivePhase::write_progress() {
  if (!leads_all()) return;
  const double now = platform::now_s();
  if (now - shown_at_s_ < progress_every_s) return;
  shown_at_s_ = now;
  // Those that have changed most since they were shown.
  std::vector<std::size_t> order(jobs_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto news = [&](std::size_t i) {
    const Cell& cell = sampling_[0].cells()[i];
    return cell.empty() ? 0U : cell.rounds() + 1 - shown_[i];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return news(a) > news(b); });
  order.resize(std::min(order.size(), most_progress_lines));
  for (const std::size_t i : order) {
    if (news(i) == 0) break;
    const Cell& cell = sampling_[0].cells()[i];
    const Estimate estimate = cell.estimate();
    const Card& card = *jobs_[i].row.card;
    const Shape& shape = jobs_[i].row.shape;
    session_.writer->write(
        object_of(records::Progress{.launch = session_.options.launch,
                                    .key = key_of(jobs_[i], session_.options, whose()),
                                    .time_p50_s = estimate.value / rules_.hz,
                                    .ci_low_s = estimate.interval.low / rules_.hz,
                                    .ci_high_s = estimate.interval.high / rules_.hz,
                                    .time_scale = time_scale(card),
                                    .moved_bytes = card.moved(shape),
                                    .messages = card.messages(shape),
                                    .samples = cell.samples(),
                                    .rounds = cell.rounds()}));
    shown_[i] = cell.rounds() + 1;
  }
}

// Ticks as 32-bit words; long ones are stored with a coarser tick, and the rate says so.
records::Raw raw_of(const Cell& cell, double hz) {
  std::uint64_t largest = 0;
  for (const auto& chunk : cell.chunks()) {
    for (const auto ticks : chunk.slowest) largest = std::max(largest, ticks);
  }
  unsigned shift = 0;
  while (largest >> shift > std::numeric_limits<std::uint32_t>::max()) ++shift;
  std::vector<std::uint32_t> words;
  for (const auto which : {&Chunk::slowest, &Chunk::fastest, &Chunk::mean}) {
    for (const auto& chunk : cell.chunks()) {
      for (const auto ticks : chunk.*which)
        words.push_back(static_cast<std::uint32_t>(ticks >> shift));
    }
  }
  std::vector<records::Chunk> chunks;
  for (const auto& chunk : cell.chunks()) {
    chunks.push_back({.round = chunk.round, .taint = chunk.taint, .n = chunk.slowest.size()});
  }
  return {.hz = hz / static_cast<double>(std::uint64_t{1} << shift),
          .chunks = chunks,
          .ticks = base64(words),
          .scheme = "max,min,avg"};
}

Measured AdaptivePhase::measured(std::size_t i) const {
  const Job& job = jobs_[i];
  const Cell cell = sampling_[0].cells()[i].with_missed();
  Stop stop = sampling_[0].stopped(i);
  if (stop == Stop::time && session_.interrupted) stop = Stop::interrupted;
  Summary s = summarise(cell, rules_, stop, sampling_[0].target(), job.row.card->of_shorter);
  const bool by_clock = job.sync == SyncMethod::clock;
  const double apart = s.missed ? starter_.width_ticks() : starter_.error_ticks();
  s.sync_error_s = by_clock ? apart / rules_.hz : 0.0;
  if (s.missed || s.sync_error_s > most_sync_error * s.time_p50_s) s.flags.emplace_back("sync");
  return {.summary = s,
          .rounds = cell.rounds(),
          .epochs = buffers_.at(memory_of(job)).epoch(),
          .stop = word(stop),
          .wrong = wrong_[i],
          .remarks = remarks_[i],
          .beside = beside_[i]};
}

std::string AdaptivePhase::raw_text(std::size_t i) const {
  return object_of(raw_of(sampling_[0].cells()[i].with_missed(), rules_.hz)).text();
}

Object AdaptivePhase::cell_record(std::size_t i) const {
  const Measured of_cell = measured(i);
  if (session_.on_cell) session_.on_cell(jobs_[i], of_cell);
  Object line = cell_record_of(session_, groups_, jobs_[i], of_cell);
  line.add_json("raw", raw_text(i));
  return line;
}

// Rows of this group that were not written yet, a line each: those that are finished, or all that
// there are; cells that were never reached are said to be skipped.
std::string AdaptivePhase::rows(bool all) {
  if (!leads()) return "";
  const bool interrupted = sampling_[0].interrupted() || session_.stop_wanted();
  if (all && interrupted) session_.interrupted = true;
  std::string lines;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (written_[i] || !(all || sampling_[0].finished(i))) continue;
    lines += (lines.empty() ? "" : "\n") + row(i).text();
    written_[i] = true;
  }
  return lines;
}

bool AdaptivePhase::is_measured(std::size_t i) const {
  return !refused_.contains(static_cast<std::uint32_t>(i)) && !sampling_[0].cells()[i].empty();
}

void AdaptivePhase::count(std::size_t i) {
  session_.wrong += wrong_[i];
  if (is_measured(i)) ++session_.cells;
  if (sampling_[0].stopped(i) == Stop::time) session_.timed_out = true;
}

// What all pairs of the round measured, a record for each case.
void AdaptivePhase::write_blocks() {
  if (leads() && (sampling_[0].interrupted() || session_.stop_wanted())) {
    session_.interrupted = true;
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (leads()) count(i);
    write_block(i, leads() && is_measured(i));
  }
}

void AdaptivePhase::write_block(std::size_t i, bool has_row) {
  const PairRow mine = has_row ? pair_row(session_, groups_, measured(i)) : PairRow{};
  const auto rows = gather_rows(mine, groups_.active());
  std::vector<std::string> texts, raw;
  if (session_.ranks <= most_ranks_in_detail) {
    for_each_text(groups_.active(), has_row ? raw_text(i) : "",
                  [&](int, const std::string& text) { texts.push_back(text); });
  }
  if (!leads_all()) return;
  if (rows.empty()) {
    return session_.write_skip(key_of(jobs_[i], session_.options, groups_.all_groups()),
                               why_empty(i));
  }
  for (const PairRow& row : rows) {
    if (!texts.empty()) raw.push_back(texts.at(static_cast<std::size_t>(row.holder)));
  }
  session_.writer->write(pair_block_of(session_, groups_, jobs_[i], rows, raw));
}

Object AdaptivePhase::row(std::size_t i) {
  count(i);
  if (is_measured(i)) return cell_record(i);
  return object_of(records::Skip{.launch = session_.options.launch,
                                 .key = key_of(jobs_[i], session_.options, whose()),
                                 .reason = why_empty(i)});
}

std::string AdaptivePhase::why_empty(std::size_t i) const {
  const auto refused = refused_.find(static_cast<std::uint32_t>(i));
  if (refused != refused_.end()) return refused->second;
  return session_.interrupted ? "interrupted before its turn" : std::string(no_time);
}

// With a row per group, every leader has some; else rank 0 has them all.
void AdaptivePhase::hand_in(const std::string& lines) {
  if (session_.options.multi == Multi::apart) return session_.write_all(groups_.active(), lines);
  if (!lines.empty()) session_.writer->write(lines);
}

}  // namespace

void run_adaptive(Session& session, const Groups& groups, const std::vector<Job>& jobs,
                  double seconds) {
  AdaptivePhase(session, groups, jobs, seconds).run();
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a benchmark sees: its place, its buffers, and measure(), which owns the clock.
//
// A benchmark is a function that sets up its buffers, gives measure() the call to be timed, and
// says with expect() how many elements arrived wrong. The harness calls the function again at each
// visit; what measure() does there (check, warm up, time, repeat as IMB does) is not its business.
#pragma once

#include <array>
#include <barrier>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/buffers.hpp"
#include "core/card.hpp"
#include "core/derived.hpp"
#include "core/mpi.hpp"
#include "core/pairs.hpp"
#include "core/sync.hpp"
#include "core/types.hpp"
#include "platform/clock.hpp"
#include "platform/platform.hpp"

namespace mpigauge {

/// One row: a benchmark with its shape and its modes.
struct Case {
  const Card* card = nullptr;
  Shape shape;
  const DataType* type = nullptr;
  const Op* op = nullptr;  ///< null: nothing is reduced
  Contiguity contiguity = Contiguity::base;
  Completion completion = Completion::none;
  std::string_view directory;  ///< where a benchmark on files has them; empty for others
  Memories memories;
  std::string_view left_out;  ///< why it is not measured in this memory; empty: it is
  bool root_shift = false;
  bool cold = false;
  std::size_t cold_bytes = 0;  ///< what rotating buffers have to exceed
};

/// Memory of a case: sizes of its buffers, how many copies, and how far apart they are.
struct Layout {
  std::size_t send_bytes = 0;
  std::size_t recv_bytes = 0;
  std::size_t stride_of_send = 0;
  std::size_t stride_of_recv = 0;
  std::size_t slots = 1;
  [[nodiscard]] std::size_t send_total() const;
  [[nodiscard]] std::size_t recv_total() const;
};
Layout layout(const Case& row);
/// What a message takes in memory, where there may be room between its elements.
std::size_t bytes_in_memory(const Case& row);
/// What the send buffer of a rank holds.
Contents contents(const Case& row, int rank);

/// What measure() is to do at this visit.
enum class Work {
  check,         ///< one call on poisoned receive buffers
  chain,         ///< samples back to back; each ends where the next begins
  apart,         ///< ranks meet before each sample
  classic_loop,  ///< one pair of MPI_Wtime around all calls
  classic_sum,   ///< MPI_Wtime around each call, a barrier after it
};

struct Task {
  Work work = Work::check;
  std::uint32_t warm = 0;
  std::uint32_t samples = 1;
  std::uint32_t calls = 1;   ///< calls in a sample; in classic work all calls
  std::uint32_t writes = 0;  ///< how often fresh data were written before, the same on all ranks
  std::uint32_t round = 0;   ///< of the sampling, the same on all ranks
};

/// What a benchmark has to say about how it could be measured here; a flag of the row.
enum Remark : unsigned {
  cached = 1,    ///< the page cache held a part of the files, though it was to be kept out
  buffered = 2,  ///< the MPI library did not take the hint to go around the page cache
};

/// What other ranks did meanwhile to disturb those that are measured, as their first one saw it.
struct Beside {
  double bytes = 0;      ///< that they sent, all together
  double seconds = 0;    ///< for how long
  bool stopped = false;  ///< they stopped before they were told to
};

/// The other rank of a pair, -1 without one, and the time of the pair.
struct PairTime {
  int partner = -1;
  double ticks = 0;
};

/// What a rank brings home from a visit.
struct Outcome {
  std::vector<std::uint64_t> ticks;  ///< per sample
  std::vector<std::uint8_t> late;    ///< per sample: this rank missed the agreed start
  /// Per sample, of this rank by itself. Where ranks come apart it is from this one's arrival,
  /// while `ticks` are from the last.
  std::vector<std::uint64_t> own;
  std::uint64_t first = 0;  ///< ticks of the first call
  double seconds = 0.0;     ///< classic: time of all calls by MPI_Wtime
  std::uint64_t wrong = 0;
  bool expected = false;
  unsigned taint = 0;
  unsigned remarks = 0;  ///< bits of Remark
  bool counted = true;   ///< false: the times of this rank say nothing about the benchmark
  /// What was timed beside the benchmark, in the order of Part; empty or 0 where nothing was.
  std::array<std::vector<std::uint64_t>, part_count> part_ticks;
  std::array<double, part_count> part_seconds{};
  /// Of the further threads of this rank, where it has some: like ticks and seconds.
  std::vector<std::vector<std::uint64_t>> thread_ticks;
  std::vector<double> thread_seconds;
  std::vector<PairTime> pair_times;  ///< one after the other, as many on all ranks
  Beside beside;
};

/// Ranks of one group, and how they meet.
struct Team {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
  Starter* starter = nullptr;
  Buffers* buffers = nullptr;
  int thread = 0;                     ///< which thread of its rank this is
  std::barrier<>* threads = nullptr;  ///< where the threads of a rank meet; null: there is one
  bool own_barriers = false;          ///< meet by our own barrier, not by the library's
  /// Ranks of `comm` that are the two of a pair; null: `comm` has no others.
  const PairAddresses* addresses = nullptr;
};

class Run {
 public:
  Run(const Case& row, const Team& team, const Task& task)
      : case_(row), team_(team), task_(task), layout_(layout(row)), writes_(task.writes) {
    if (row.contiguity != Contiguity::base) {
      derived_.emplace(*row.type, row.op, row.contiguity, elements());
    }
  }
  /// The same visit for a thread of this rank, which has a team of its own.
  Run(const Run& of_rank, const Team& team) : Run(of_rank.case_, team, of_rank.task_) {}

  [[nodiscard]] int rank() const { return team_.rank; }
  [[nodiscard]] int ranks() const { return team_.ranks; }
  [[nodiscard]] MPI_Comm comm() const { return team_.comm; }
  /// The root of the first call, which is the checked one.
  [[nodiscard]] int root() const { return has_root(*case_.card) ? options().root : 0; }
  /// The other rank of a pair: rank 0 and the last one.
  [[nodiscard]] int peer() const { return team_.ranks - 1 - team_.rank; }
  /// The rank of comm() that is this rank of the group.
  [[nodiscard]] int address(int rank) const {
    return team_.addresses == nullptr ? rank : team_.addresses->at(static_cast<std::size_t>(rank));
  }
  /// What a message takes in memory.
  [[nodiscard]] std::size_t bytes() const { return bytes_in_memory(case_); }
  /// Elements of a message...
  [[nodiscard]] std::size_t elements() const { return bytes() / case_.type->bytes; }
  /// ...and what a call is told: how many of type() it is.
  [[nodiscard]] std::size_t count() const { return derived_ ? derived_->count() : elements(); }
  [[nodiscard]] int inflight() const { return case_.shape.inflight; }
  [[nodiscard]] MPI_Datatype type() const {
    return derived_ ? derived_->type() : case_.type->mpi();
  }
  /// Whether messages are reduced.
  [[nodiscard]] bool reduces() const { return case_.op != nullptr; }
  [[nodiscard]] MPI_Op op() const { return derived_ ? derived_->op() : case_.op->mpi(); }
  [[nodiscard]] std::string_view op_name() const { return case_.op->name; }
  [[nodiscard]] int threads() const { return case_.shape.threads; }
  [[nodiscard]] const Team& team() const { return team_; }
  [[nodiscard]] const Layout& memory() const { return layout_; }
  [[nodiscard]] Contents contents_to_send() const;
  [[nodiscard]] const SuiteOptions& options() const { return *case_.shape.options; }
  [[nodiscard]] std::string_view directory() const { return case_.directory; }
  /// Whether each operation is to be completed before the next, rather than all at the end.
  [[nodiscard]] bool completes_each() const { return case_.completion != Completion::end; }
  /// Whether the send buffer is written before each call.
  [[nodiscard]] bool fresh() const { return case_.shape.fresh; }
  /// Which values it holds: those from so many elements on (of transfers: bytes).
  [[nodiscard]] std::size_t news() const { return fresh() ? writes_ : 0; }
  /// True at the visit whose result is checked.
  [[nodiscard]] bool checking() const { return task_.work == Work::check; }
  /// What measure() will do, for those that must have something ready for every call (a file).
  [[nodiscard]] const Task& task() const { return task_; }

  /// The turns that measure() goes through at this visit until they come again, but no more than
  /// `most`; for what has to be made for each of them before it is timed.
  [[nodiscard]] std::vector<Turn> turns(std::size_t most) const;

  /// The send buffer of the card's size: transfers hold fill_bytes(rank), reductions the rank's
  /// part. From here on measure() writes it before each call where data are fresh; where calls
  /// follow each other every rank should have one, so that all of them write at the same time.
  [[nodiscard]] Block send_block();
  /// Writes the buffers as measure() does before the checked call, for a check that makes its calls
  /// itself.
  void renew() {
    if (fresh()) renew(rotation(), 1);
    push();
  }
  /// The receive buffer of the card's size; poisoned at the checked visit.
  [[nodiscard]] Block recv_block();

  /// All memory of these two: every copy through which calls rotate.
  [[nodiscard]] std::size_t send_total() const { return layout_.send_total(); }
  [[nodiscard]] std::size_t recv_total() const { return layout_.recv_total(); }

  /// Times `body(Turn)`. With `close()`, that is the last thing in each timed sample: what
  /// completes the operations that the body only started.
  template <class Body>
  void measure(Body&& body) {
    measure(std::forward<Body>(body), NothingMore{});
  }
  template <class Body, class Close>
  void measure(Body&& body, Close&& close);
  /// Times `start(Turn)` with `complete()` after each, or once at the end, as the case wants it.
  template <class Start, class Complete>
  void measure_completed(Start start, Complete complete) {
    if (!completes_each()) return measure(start, complete);
    measure([=](Turn t) {
      start(t);
      complete();
    });
  }
  /// Times `body(Turn)` as a part of what is known about the case beside its own time.
  template <class Body>
  void measure(Part part, Body&& body) {
    measure(part, std::forward<Body>(body), NothingMore{});
  }
  template <class Body, class Close>
  void measure(Part part, Body&& body, Close&& close);
  /// What the benchmark itself timed of a part, in the order of the samples; where there are more
  /// than samples, the first ones were warm-up.
  void take_part(Part part, std::vector<std::uint64_t> ticks);
  /// The same of what this rank spends by itself: rows have it in the mean of all ranks.
  void take_own(std::vector<std::uint64_t> ticks);
  /// The same of the samples themselves, where ranks take turns within one.
  void take_ticks(std::vector<std::uint64_t> ticks);
  /// Adds the time of another pair of this rank at this visit; all ranks add as many.
  void add_pair_time(const PairTime& time) { outcome_.pair_times.push_back(time); }
  void note_beside(const Beside& what) { outcome_.beside = what; }
  /// What was measured so far at this visit, and what else there is to say against it.
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  void taint(unsigned bits) { outcome_.taint |= bits; }
  void remark(Remark what) { outcome_.remarks |= what; }
  /// What this rank times at this visit says nothing about the benchmark (it only assists).
  void sit_out() { outcome_.counted = false; }

  /// Copies what the CPU wrote into the mirrors of the buffers to the GPU, as measure() does before
  /// the checked call.
  void push();
  /// Copies the buffers from the GPU into their mirrors, once after the checked call; the functions
  /// below that count wrong elements do it themselves.
  void refresh() const;
  /// Whether the CPU may touch the buffers of this rank in timed calls.
  [[nodiscard]] bool on_cpu() const { return !is_on_gpu(case_.memories.of_rank(team_.rank)); }

  /// Elements that arrived wrong; counts at the checked visit. A benchmark that moves no data says
  /// expect(0).
  void expect(std::size_t wrong);
  /// Bytes of `got` that are not what `from` has in its send buffer at `first`.
  [[nodiscard]] std::size_t wrong(std::span<const std::byte> got, int from,
                                  std::size_t first) const;
  /// Elements of `got` that are not the reduction over all ranks, from element `first` on.
  [[nodiscard]] std::size_t wrong_reduction(std::span<const std::byte> got,
                                            std::size_t first) const;

  /// For calls that combine into their second operand: writes what `rank` contributes there...
  void fill_operand(const Block& operand, int rank) const;
  /// ...and counts elements that are not this combined with the own send buffer.
  [[nodiscard]] std::size_t wrong_operand(const Block& operand, int rank) const;

  [[nodiscard]] Outcome take_outcome() { return std::move(outcome_); }
  /// Takes over what the threads of this rank have measured, the first thread's as the rank's own.
  void take_over(std::vector<Outcome> of_threads);

 private:
  /// Position in the rotation of buffers and roots.
  struct Rotation {
    Turn turn;
    std::size_t slots = 1;
    int ranks = 1;
    int root_step = 0;
    void advance() {
      if (++turn.slot == slots) turn.slot = 0;
      turn.root += root_step;
      if (turn.root == ranks) turn.root = 0;
    }
  };

  /// Closes a sample that is complete when the body returns. One type for all benchmarks: what two
  /// of them measure by the same body is compiled once.
  struct NothingMore {
    void operator()() const {}
  };

  // Flattened: the body is part of each loop, not called from it.
  template <class Body, class Close>
  [[gnu::flatten, gnu::noinline]] void chain(Body body, Close close, Rotation at);
  template <class Body, class Close>
  [[gnu::flatten, gnu::noinline]] void apart(Body body, Close close, Rotation at);
  template <class Body, class Close>
  [[gnu::flatten, gnu::noinline]] void classic_loop(Body body, Close close, Rotation at);
  template <class Body, class Close>
  [[gnu::flatten, gnu::noinline]] void classic_sum(Body body, Close close, Rotation at);
  template <class Body>
  Rotation warm_up(Body& body, Rotation at);
  /// Writes what the next calls send, and says when that was done.
  std::uint64_t renew(Rotation at, std::uint32_t calls);
  void write(Turn turn);
  void meet() const;
  /// When this rank comes to a sample, and when the last one does, in ticks after the window opens.
  struct Coming {
    platform::Ticks own = 0, last = 0, first = 0;
  };
  [[nodiscard]] bool apart_from_others() const { return comes_apart(*case_.card, case_.shape); }
  [[nodiscard]] Coming comes(std::uint32_t sample) const;
  /// Keeps a sample that was started so and ended then.
  void keep(std::uint32_t sample, const Start& start, const Coming& coming, platform::Ticks from,
            platform::Ticks end);
  // What the loops need around their clock is not compiled with each of them.
  /// Room for the ticks of each sample...
  std::span<std::uint64_t> samples();
  /// ...and, where ranks meet before it, for when its window opened.
  void openings();
  void begin_timing();
  /// Learns which starts were missed, once all samples are made; all ranks together.
  void settle();
  /// Puts what was measured so far aside...
  Outcome begin_part();
  /// ...and takes it up again, with what was measured since as a part of it.
  void end_part(Part part, Outcome whole);
  [[nodiscard]] int sender(int rank) const;
  [[nodiscard]] Block block(Location at, std::size_t bytes, std::size_t stride) const;

  [[nodiscard]] Rotation rotation() const;

  const Case& case_;
  const Team& team_;
  const Task& task_;
  Layout layout_;
  std::optional<Derived> derived_;
  const Pattern* pattern_ = nullptr;  // of the send buffer, where it is written again
  std::byte* sent_ = nullptr;
  Arena* send_ = nullptr;
  Arena* recv_ = nullptr;
  mutable bool is_stale_ = false;  // a call may have changed what the mirrors show
  std::size_t writes_;
  Outcome outcome_;
  std::vector<platform::Ticks> opened_;
  platform::TaintProbe probe_;
};

template <class Body, class Close>
void Run::measure(Body&& body, Close&& close) {
  const Rotation at = rotation();
  if (checking()) push();  // before ranks meet: afterwards others may write here
  meet();
  switch (task_.work) {
    case Work::check:
      if (fresh()) renew(at, 1);
      body(at.turn);
      close();
      return;
    case Work::chain: return chain(body, close, at);
    case Work::apart: return apart(body, close, at);
    case Work::classic_loop: return classic_loop(body, close, at);
    case Work::classic_sum: return classic_sum(body, close, at);
  }
}

template <class Body, class Close>
void Run::measure(Part part, Body&& body, Close&& close) {
  Outcome whole = begin_part();
  measure(std::forward<Body>(body), std::forward<Close>(close));
  end_part(part, std::move(whole));
}

template <class Body>
Run::Rotation Run::warm_up(Body& body, Rotation at) {
  for (std::uint32_t i = 0; i < task_.warm; ++i) {
    const auto start = fresh() ? renew(at, 1) : platform::ticks();
    body(at.turn);
    if (i == 0) outcome_.first = platform::ticks() - start;
    at.advance();
  }
  return at;
}

// What a loop needs is copied into variables of its own, which stay in registers across the calls.
template <class Body, class Close>
void Run::chain(Body body, Close close, Rotation at) {
  const std::span<std::uint64_t> ticks = samples();
  const std::uint32_t calls = task_.calls;
  const bool fresh = this->fresh();
  at = warm_up(body, at);
  if (task_.warm > 0) close();
  begin_timing();
  auto last = platform::ticks();
  for (auto& sample : ticks) {
    if (fresh) last = renew(at, calls);
    for (std::uint32_t i = 0; i < calls; ++i) {
      body(at.turn);
      at.advance();
    }
    close();
    const auto now = platform::ticks();
    sample = now - last;
    last = now;
  }
  outcome_.taint |= probe_.taint();
}

template <class Body, class Close>
void Run::apart(Body body, Close close, Rotation at) {
  samples();
  openings();
  at = warm_up(body, at);
  if (task_.warm > 0) close();
  begin_timing();
  for (std::uint32_t i = 0; i < task_.samples; ++i) {
    if (fresh()) renew(at, 1);
    const Coming coming = comes(i);
    const Start start = team_.starter->start(coming.own);
    const auto from = start.opened != 0 ? start.from : platform::ticks();
    body(at.turn);
    close();
    const auto end = platform::ticks();
    keep(i, start, coming, from, end);
    at.advance();
  }
  outcome_.taint |= probe_.taint();
  settle();
}

template <class Body, class Close>
void Run::classic_loop(Body body, Close close, Rotation at) {
  const std::uint32_t calls = task_.calls;
  const double start = MPI_Wtime();
  for (std::uint32_t i = 0; i < calls; ++i) {
    body(at.turn);
    at.advance();
  }
  close();
  outcome_.seconds = MPI_Wtime() - start;
}

template <class Body, class Close>
void Run::classic_sum(Body body, Close close, Rotation at) {
  double sum = 0.0;
  for (std::uint32_t i = 0; i < task_.calls; ++i) {
    const double start = MPI_Wtime();
    body(at.turn);
    close();
    sum += MPI_Wtime() - start;
    at.advance();
    team_.starter->start();
  }
  outcome_.seconds = sum;
}

/// Wrong elements after a call that brings a message of every rank: that of rank r stands behind
/// those of the ranks before it, and `first(r)` is its place in the send buffer of r.
template <class First>
std::size_t wrong_from_all(const Run& run, const Block& in, First first) {
  std::size_t wrong = 0;
  for (int r = 0; r < run.ranks(); ++r) {
    const std::size_t at = static_cast<std::size_t>(r) * run.bytes();
    wrong += run.wrong(in.bytes(at, run.bytes()), r, first(r));
  }
  return wrong;
}

}  // namespace mpigauge

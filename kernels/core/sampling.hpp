// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The sampling algorithm, apart from any clock and any MPI.
//
// Cells (one benchmark at one size on so many ranks) are visited in rounds: every unfinished cell
// once, in a random order. A visit is a chunk: some untimed calls, then some timed samples. The
// value of a cell is the median of the medians of its chunks, and its interval comes from the
// order statistics of these. So neighbouring samples, which are alike, do not count as
// independent, and what disturbs the machine for a while touches a chunk of every cell instead of
// all chunks of one.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "core/card.hpp"
#include "core/detours.hpp"
#include "core/statistics.hpp"
#include "platform/taint.hpp"
#include "record/columns.hpp"

namespace mpigauge {

/// Samples of one visit, in ticks, each for all calls of a sample.
struct Chunk {
  unsigned round = 0;
  unsigned taint = 0;  ///< bits of platform::Taint, of any rank
  std::uint32_t calls = 1;
  std::uint64_t first = 0;  ///< first call of the visit, caches still hold other cells' data
  std::vector<std::uint64_t> slowest, fastest, mean;  ///< over ranks, per sample
  /// Mean over ranks of the time from each one's own arrival; none where they come together.
  std::vector<std::uint64_t> own;
  /// Slowest of the ranks, per sample, of what was timed beside it, in the order of Part.
  std::array<std::vector<std::uint64_t>, part_count> parts;
};

/// How a visit is made.
struct Visit {
  std::uint32_t cell = 0;
  std::uint32_t calls = 1;    ///< calls between two clock reads
  std::uint16_t warm = 0;     ///< untimed calls before
  std::uint16_t samples = 1;  ///< timed samples
  std::uint32_t ask = 0;      ///< 1: all ranks look whether they should stop, before this visit
};

struct Round {
  std::uint32_t number = 0;
  bool fresh_buffers = false;
  std::vector<Visit> visits;  ///< none: sampling is over
};

enum class Stop { running, precise, budget, time, interrupted };
std::string_view word(Stop stop);

struct Rules {
  double hz = 1e9;               ///< ticks per second
  double clock_cost_ticks = 10;  ///< of one reading
  double clock_step_ticks = 1;   ///< smallest difference of two readings
  double precision = 0.05;       ///< wanted relative error over launches
  double seconds = 0;            ///< measuring time; 0: no bound but each cell's own
  double cell_seconds = 0;       ///< that a cell takes at most, but for one call; 0: no bound
  bool use_all = false;          ///< spend all of the seconds on the cells with the widest interval
  bool at_least_one = false;     ///< one cell is visited however late it is
  std::uint64_t seed = 1;
  unsigned least_rounds = 6;  ///< fewest chunk medians that give a 95 % interval
  unsigned rounds_per_epoch = 4;
  Detours detours;  ///< of a core, as far as they are known
  int cores = 1;    ///< that work together in a cell: a detour of any of them delays it
};

/// How long calls that follow each other are joined to a sample, in ticks: long against the cost of
/// the clock and its step; where the step alone asks for samples so long that detours hit many of
/// them, shorter, down to a quarter.
double shortest_sample(const Rules& rules);
/// The longest sample, in seconds, that detours do not hit too often; infinite where there are
/// none.
double longest_calm_s(const Rules& rules);

/// What of a cell the rules depend on.
struct Goal {
  double calls_of_imb =
      1000;                 ///< repetitions that IMB would print; twice that is the cell's budget
  bool batched = true;      ///< short calls may share a pair of clock reads
  std::uint32_t calls = 0;  ///< not 0: so many calls in a sample, since they are completed together
  std::uint32_t most_calls = 0;  ///< not 0: of a batch, since each needs its own buffer
  double most_s = 0;             ///< not 0: it takes no longer
  std::uint32_t arms_of = 0;     ///< not 0: cells with the same are one case in several settings
  double wait_ticks = 0;         ///< before each sample until all ranks start
  bool every_round = false;      ///< its visits are compared with those of others in their rounds
  bool connects = false;         ///< each visit connects its ranks before the first call
};

/// Median and interval of a cell so far, in ticks per call.
struct Estimate {
  double value = 0.0;
  Interval interval;
  bool has_interval = false;
  /// Larger distance of an end of the interval from the value, relative to it; infinite without.
  [[nodiscard]] double error() const;
};

class Cell {
 public:
  /// `resolution`: what the clock cannot tell apart, in ticks; no interval is narrower.
  explicit Cell(double resolution = 0) : resolution_(resolution) {}
  void add(Chunk chunk);
  [[nodiscard]] const std::vector<Chunk>& chunks() const { return chunks_; }
  [[nodiscard]] unsigned rounds() const { return static_cast<unsigned>(chunks_.size()); }
  /// The chunks that the estimate rests on: the untainted ones where they are enough, else all.
  [[nodiscard]] std::vector<const Chunk*> kept() const;
  /// Their medians.
  [[nodiscard]] std::vector<double> medians() const;
  [[nodiscard]] const std::vector<double>& medians_of_all() const { return medians_; }
  [[nodiscard]] Estimate estimate() const;
  /// What a call takes once it is warm, as far as known, in ticks; 0 where nothing is.
  [[nodiscard]] double warm_call() const;
  [[nodiscard]] std::size_t samples() const;
  [[nodiscard]] double tainted_ratio() const;
  /// Ticks that all visits took, warm-up included.
  [[nodiscard]] double spent() const { return spent_; }
  void spend(double ticks) { spent_ += ticks; }
  /// The same with the discarded first visit and the calls before it.
  [[nodiscard]] double taken() const { return taken_; }
  void take(double ticks) { taken_ += ticks; }
  /// What the last visit took, in seconds, and for how many timed calls.
  struct Last {
    double seconds = 0.0, calls = 1.0;
  };
  [[nodiscard]] const Last& last() const { return last_; }
  void set_last(const Last& last) { last_ = last; }
  [[nodiscard]] bool empty() const { return chunks_.empty() && !probed_; }
  /// The discarded first visit: the only data of a cell that was not reached again.
  [[nodiscard]] const Chunk& probe() const { return probe_; }
  void set_probe(Chunk chunk);
  /// A visit in which some rank missed every start.
  void miss(Chunk chunk);
  [[nodiscard]] unsigned missed() const { return missed_; }
  /// The cell as it is written: where there are too few other visits for an interval, those that
  /// were missed count as disturbed ones.
  [[nodiscard]] Cell with_missed() const;

 private:
  [[nodiscard]] bool use_clean() const;
  double resolution_;
  std::vector<Chunk> chunks_;
  std::vector<double> medians_;
  std::size_t clean_ = 0;
  Chunk probe_;
  bool probed_ = false;
  double spent_ = 0.0;
  double taken_ = 0.0;
  Last last_;
  unsigned missed_ = 0;
  std::vector<Chunk> missed_chunks_;
};

class Sampling {
 public:
  /// `now_s` is the time at which sampling starts.
  Sampling(const Rules& rules, std::vector<Goal> goals, double now_s);

  /// The next round; `also_wanted` marks cells that others have not finished (may be empty).
  Round next(double now_s, const std::vector<std::uint8_t>& also_wanted = {});
  /// Takes what a visit brought; `seconds` is how long all of it took. Round 0 is set apart.
  void add(std::size_t cell, Chunk chunk, double seconds);
  /// Whether a first visit would take too long where a call takes so many seconds: longer than the
  /// cell may, or than all of the time that is left.
  [[nodiscard]] bool is_too_long(const Visit& first, double call_s, double now_s) const;
  /// Whether a visit that takes so many seconds would end in time.
  [[nodiscard]] bool has_time_for(double seconds, double now_s) const;
  /// Whether a cell whose first call took so many seconds gets a timed one: one that ends a little
  /// late is better than nothing, and of the first cell of all there has to be something.
  [[nodiscard]] bool has_time_for_one(double call_s, double now_s) const;
  /// Whether the next visit to a cell would, as far as those before show.
  [[nodiscard]] bool is_in_time(const Visit& visit, double now_s) const;
  /// The first call of a cell took so many seconds, with all that is around it.
  void note_first_call(double seconds);
  /// Of calls that are completed together, as many as fit where one takes so many seconds.
  void shorten(std::size_t cell, double call_s);
  [[nodiscard]] bool out_of_time(double now_s) const;
  void interrupt() { interrupted_ = true; }
  /// There is no time for the first visit of a cell, so it has no other.
  void leave_out(std::size_t cell) { left_out_[cell] = 1; }
  /// Nothing more is wanted of a cell, as it cannot be had.
  void give_up(std::size_t cell) { given_up_[cell] = 1; }

  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  [[nodiscard]] Stop stopped(std::size_t cell) const;
  /// Whether the rules say that nothing more is wanted of the cell.
  [[nodiscard]] bool finished(std::size_t cell) const { return judge(cell) != Stop::running; }
  /// 1 for cells that are not finished.
  [[nodiscard]] std::vector<std::uint8_t> unfinished() const;
  /// Relative error at which a launch stops to look closer.
  [[nodiscard]] double target() const;
  [[nodiscard]] bool interrupted() const { return interrupted_; }

 private:
  [[nodiscard]] Stop judge(std::size_t i) const;
  [[nodiscard]] bool has_time_for_a_visit(std::size_t i) const;
  [[nodiscard]] Visit shape(std::size_t i) const;
  [[nodiscard]] std::vector<std::size_t> choose(const std::vector<std::uint8_t>& also_wanted,
                                                double now_s) const;
  [[nodiscard]] double expected_s(const Visit& visit) const;
  void balance(std::vector<std::size_t>& cells) const;
  [[nodiscard]] double cost_s(const Visit& visit) const;

  Rules rules_;
  std::vector<Goal> goals_;
  std::vector<Cell> cells_;
  std::vector<std::uint8_t> given_up_, left_out_;
  bool is_empty_ = true;  ///< no cell was visited
  double start_s_;
  unsigned round_ = 0;
  bool interrupted_ = false;
  bool timed_out_ = false;
  double shortest_first_call_s_ = 0.0;  // of all cells; 0: none was called
  std::mt19937_64 random_;
};

/// What is printed of a cell, in seconds per call. All of it is of the chunks that the value rests
/// on; only counts, the mean and the tails are of all, as they say what else happened.
struct Summary : column::Times {
  std::size_t samples = 0;
  std::uint32_t calls = 1;
  std::size_t chunks = 0;
  double tainted_ratio = 0.0;
  bool missed = false;  ///< it rests on visits whose starts were all missed
  std::vector<std::string_view> flags;
};
/// Where a summary has what was timed beside a benchmark, in the order of Part.
inline constexpr std::array<double column::Times::*, part_count> time_of_part{
    &column::Times::time_pure_s, &column::Times::time_cpu_s, &column::Times::time_progress_s,
    &column::Times::time_write_s, &column::Times::time_skew_s};
Summary summarise(const Cell& measured, const Rules& rules, Stop stop, double target,
                  bool of_shorter = false);

/// Repetitions that IMB prints for a size: 1000, fewer from 40 MiB in all on.
double calls_of_imb(double bytes);

}  // namespace mpigauge

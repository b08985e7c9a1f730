// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// One launch: what all parts of the driver share.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/groups.hpp"
#include "core/run.hpp"
#include "core/sampling.hpp"
#include "driver/options.hpp"
#include "platform/platform.hpp"
#include "record/json.hpp"

namespace mpigauge {

/// Why a cell is left out where the time for all is over.
constexpr std::string_view no_time = "no time was left for it";

/// What is written of a measured cell beside what it is.
struct Measured {
  Summary summary;
  unsigned rounds = 1;
  int epochs = 1;
  std::string_view stop;
  std::uint64_t wrong = 0;
  unsigned remarks = 0;
  Beside beside;
};

struct Session {
  Options options;
  platform::ClockFacts clock;
  int rank = 0;                                    ///< in the world
  int ranks = 1;                                   ///< of the world
  int local_ranks = 1;                             ///< of the world on this host
  ThreadLevel thread_level = ThreadLevel::single;  ///< that the library provides
  std::optional<ThreadLevel> asked_level;          ///< none: somebody left it to the benchmarks
  int ranks_on_gpu = 1;                            ///< of the world on the GPU of this rank
  bool oversubscribed = false;                     ///< more ranks on a host than cores they may use
  bool one_clock = false;                          ///< all ranks read the same
  Writer* writer = nullptr;                        ///< on rank 0 only
  double init_s = std::numeric_limits<double>::quiet_NaN();     ///< what MPI_Init took
  double startup_s = std::numeric_limits<double>::quiet_NaN();  ///< from the process's start on
  double start_s = 0.0;
  Detours detours;  ///< of a core of any rank, where a launch began with a look at them
  unsigned long long wrong = 0;  ///< elements, summed up on rank 0
  std::size_t cells = 0;         ///< written, on rank 0
  unsigned remarks = 0;          ///< bits of Remark of any cell, on rank 0
  bool interrupted = false;
  bool timed_out = false;
  /// Where it is set: gets each sampled cell, on the rank that writes it.
  std::function<void(const struct Job&, const Measured&)> on_cell;

  /// Seconds of the budget that are left; 0 means no budget, so never returns 0 when there is one.
  [[nodiscard]] double seconds_left() const;
  /// Agreement on rank 0 is up to the caller.
  [[nodiscard]] bool is_out_of_time() const;
  [[nodiscard]] bool stop_wanted() const;
  /// How cells are sampled in so many seconds (0: no bound) by so many ranks together.
  [[nodiscard]] Rules rules(double seconds, int together) const;
  /// Bytes of buffers that every rank of the communicator may take; all ranks together.
  [[nodiscard]] std::size_t memory_per_rank(MPI_Comm comm) const;

  /// Prints the text of every rank of `comm` that has one, in the order of ranks, on its rank 0
  /// (which must be rank 0 of the world).
  void write_all(MPI_Comm comm, const std::string& text) const;
  /// Prints what a rank other than 0 has to say, on rank 0 of the world; both call it.
  void hand_over(int from, const std::string& text) const;
  void write_skip(const Object& key, std::string_view reason) const;

 private:
  [[nodiscard]] double arenas() const;
};

/// Gets the text of every rank of `comm`, on its rank 0 and in the order of ranks, a few at a time.
void for_each_text(MPI_Comm comm, const std::string& text,
                   const std::function<void(int, const std::string&)>& take);

/// Agreement: true on all ranks of the communicator when it is on its rank 0.
bool broadcast_bool(MPI_Comm comm, bool on_rank_0);

/// Flags of the row, of its samples and of how it was measured.
std::vector<std::string_view> flags_of(const Session& session, const Measured& measured);

/// The record of a cell, all columns in their order.
Object cell_record_of(const Session& session, const Groups& groups, const struct Job& job,
                      const Measured& measured);

/// Samples all cases of one number of ranks, interleaved; the ranks of `groups` together.
void run_adaptive(Session& session, const Groups& groups, const std::vector<struct Job>& jobs,
                  double seconds);
/// Runs the rows of one benchmark on one number of ranks as IMB does, one after the other.
void run_classic(Session& session, const Groups& groups, const std::vector<struct Job>& jobs);

}  // namespace mpigauge

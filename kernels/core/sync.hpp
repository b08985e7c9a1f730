// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Bringing ranks together: before a timed call, and while others work.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/mpi.hpp"
#include "platform/platform.hpp"

namespace mpigauge {

enum class SyncMethod {
  none,
  barrier,
  dissemination,
  clock,
  automatic,  ///< clock where it is exact enough, else barrier
};
std::string_view word(SyncMethod method);

/// A barrier of our own in ceil(log2 ranks) steps of empty messages, independent of the library's
/// MPI_Barrier.
void dissemination_barrier(MPI_Comm comm);

/// A barrier of this rank and one other.
void meet_partner(int partner, MPI_Comm comm);

/// Whether all ranks read the same clock: one running system, the same source, and no message that
/// arrives before it was sent. All ranks together.
bool share_a_clock(MPI_Comm comm, const platform::ClockFacts& clock);

/// The clock of rank 0 of a communicator as this rank can compute it:
/// t_0 = own + offset + drift * (own - since). Without a communicator: one clock for all.
class CommonClock {
 public:
  CommonClock() = default;
  /// Measures offset and drift against rank 0, all ranks together: a binomial tree of ping-pongs,
  /// of which the one with the shortest round trip counts; two passes give the drift.
  CommonClock(MPI_Comm comm, double hz);
  /// Own ticks at the moment when rank 0 reads `reference`.
  [[nodiscard]] platform::Ticks own_time(platform::Ticks reference) const;
  [[nodiscard]] platform::Ticks reference_time(platform::Ticks own) const;
  /// Half the shortest round trips on the way to rank 0: what the offset may be off by, in ticks.
  [[nodiscard]] double error() const { return error_; }

 private:
  double offset_ = 0.0;
  double drift_ = 0.0;
  double since_ = 0.0;
  double error_ = 0.0;
};

/// How a timed call was started.
struct Start {
  platform::Ticks opened = 0;  ///< the window, in the time of rank 0; 0: there is none
  platform::Ticks from = 0;    ///< own time from which the call counts, where there is a window
  bool late = false;           ///< this rank was not there when the window opened
};

/// Starts timed calls at the same moment on all ranks of a communicator.
///
/// By the clock, ranks meet at a barrier, and each waits for the next moment of the common clock
/// that is a multiple of the window's width, and a little later, evenly spread over steps of the
/// clock. Nothing has to be announced: ranks that leave the
/// barrier within one window wait for the same next one. Where they chose different ones, or one of
/// them came late, the sample does not count (`settle`). A call counts from the opening of the
/// window on, less what an empty window takes.
class Starter {
 public:
  Starter() = default;
  /// All ranks together. `one_clock`: they read the same one, so that nothing needs to be measured.
  Starter(SyncMethod method, MPI_Comm comm, const platform::ClockFacts& clock, bool one_clock);
  /// Returns when all may start; where there is a window, this rank so many ticks after it opened.
  Start start(platform::Ticks after = 0);
  /// Marks those samples as late whose window was not the same on all ranks, or for which any came
  /// late; all ranks together. `opened` as start() told; then the latest on any rank.
  void settle(std::vector<platform::Ticks>& opened, std::vector<std::uint8_t>& late) const;
  [[nodiscard]] SyncMethod method() const { return method_; }
  /// Starts by another method from now on; by the clock only what was made for it.
  void use(SyncMethod method) { method_ = method; }
  /// Largest error of the common start on any rank.
  [[nodiscard]] double error_ticks() const { return error_ticks_; }
  /// The width of a window, in ticks.
  [[nodiscard]] double width_ticks() const { return static_cast<double>(width_); }
  /// What a window lets ranks wait in the mean, in ticks.
  [[nodiscard]] double wait_ticks() const { return static_cast<double>(width_) / 2; }
  /// Windows twice or half as wide as they were, up to a few times as wide as at first.
  void widen();
  void narrow();
  /// The same for another communicator of the same ranks.
  [[nodiscard]] Starter on(MPI_Comm comm) const {
    Starter other = *this;
    other.comm_ = comm;
    return other;
  }
  /// Whether the common clock was measured and has to be measured again now and then.
  [[nodiscard]] bool wanders() const { return width_ > 0 && !one_clock_; }
  /// Measures the common clock again; all ranks together.
  void renew();

 private:
  Start start_by_clock(platform::Ticks after = 0);
  void choose_width();
  void agree(std::vector<platform::Ticks>& opened, std::vector<std::uint8_t>& late) const;
  [[nodiscard]] platform::Ticks time_empty_windows();
  SyncMethod method_ = SyncMethod::none;
  MPI_Comm comm_ = MPI_COMM_NULL;
  double hz_ = 1e9;
  double reading_ticks_ = 0.0, step_ticks_ = 1.0;
  bool one_clock_ = false;
  CommonClock clock_;
  platform::Ticks width_ = 0, least_width_ = 0, head_start_ = 0, tolerance_ = 0, empty_ = 0,
                  opening_ = 0;
  double error_ticks_ = 0.0;
};

/// Seconds between two looks of a rank that has waited so long. Hundreds of ranks on few cores
/// would take these for their looks alone; a small share of the wait is not missed.
double longest_nap_s(double waited_s);

/// Waits for a byte from rank 0 of the communicator, asleep between looks; rank 0 sends it. For
/// ranks that have nothing to do: they must not take cores or memory bandwidth from those that
/// work.
std::uint8_t sleep_until_told(MPI_Comm comm, std::uint8_t from_root, int root = 0);

}  // namespace mpigauge

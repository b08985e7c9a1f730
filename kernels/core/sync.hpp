// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Bringing ranks together: before a timed call, and while others work.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/mpi.hpp"
#include "platform/platform.hpp"

namespace mpigauge {

enum class SyncMethod { none, barrier, dissemination, clock };
std::string_view word(SyncMethod method);

/// A barrier of our own in ceil(log2 ranks) steps of empty messages, independent of the library's
/// MPI_Barrier.
void dissemination_barrier(MPI_Comm comm);

/// The clock of rank 0 of a communicator as this rank can compute it:
/// t_0 = own + offset + drift * (own - since).
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

/// Starts timed calls at the same moment on all ranks of a communicator.
class Starter {
 public:
  Starter() = default;
  Starter(SyncMethod method, MPI_Comm comm, double hz);
  /// Returns when all may start; false when this rank came too late for the agreed moment.
  bool start();
  [[nodiscard]] SyncMethod method() const { return method_; }
  /// Largest error of the common clock on any rank.
  [[nodiscard]] double error_ticks() const { return error_ticks_; }
  /// The same for another communicator of the same ranks.
  [[nodiscard]] Starter on(MPI_Comm comm) const {
    Starter other = *this;
    other.comm_ = comm;
    return other;
  }
  /// Measures the common clock again; all ranks together.
  void renew();

 private:
  bool start_by_clock();
  SyncMethod method_ = SyncMethod::none;
  MPI_Comm comm_ = MPI_COMM_NULL;
  double hz_ = 1e9;
  CommonClock clock_;
  double slack_ticks_ = 0.0;
  double error_ticks_ = 0.0;
};

/// Waits for a byte from rank 0 of the communicator, asleep between looks; rank 0 sends it. For
/// ranks that have nothing to do: they must not take cores or memory bandwidth from those that
/// work.
std::uint8_t sleep_until_told(MPI_Comm comm, std::uint8_t from_root, int root = 0);

}  // namespace mpigauge

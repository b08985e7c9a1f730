// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// When a stretch of time was disturbed, from what the system counts of a thread.
#pragma once

namespace mpigauge::platform {

/// Why a stretch of time is not to be trusted; bits of one word.
enum Taint : unsigned {
  switched = 1,
  migrated = 2,
  stolen = 4,
  missed = 8,  ///< in every sample some rank missed the common start
};

/// What the system has counted of a thread until a moment.
struct Counted {
  long blocked = 0;    ///< times that it gave the core away to wait for something
  long preempted = 0;  ///< times that the core was taken from it, though it could have gone on
  int cpu = -1;        ///< where it runs
};

/// Bits of Taint for the time between two moments. A thread that blocks is not disturbed: a library
/// that sleeps until the message is there takes that time for the call.
inline unsigned taint_between(const Counted& before, const Counted& after) noexcept {
  unsigned bits = 0;
  if (after.preempted != before.preempted) bits |= Taint::switched;
  if (after.cpu != before.cpu) bits |= Taint::migrated;
  return bits;
}

}  // namespace mpigauge::platform

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What the system itself counts of time that others had.
#pragma once

namespace mpigauge::platform {

/// Since the start of the machine, or of the calling thread; 0 where the system does not tell.
struct Taken {
  double stolen_s = 0.0;  ///< of the core under the thread, by the hypervisor for others
  double waited_s = 0.0;  ///< in which the thread could have run, but others had the core
  long switches = 0;      ///< how often the core was taken from the thread
};

/// Takes tens of microseconds: for before and after, not for a loop that is timed.
Taken taken_so_far();

/// What the hypervisor gave to others of a core since the start of the machine, in the system's
/// ticks of 1 / sysconf(_SC_CLK_TCK) seconds.
long stolen_jiffies(int cpu);

}  // namespace mpigauge::platform

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Regions: parts of a program with a name, that it begins and ends itself. They nest. Those of the
// main thread are of the whole process, so that what all threads do meanwhile counts for them;
// those of another thread are its own.
#pragma once

#include <cstdint>

namespace mpigauge::profile {

/// What a thread with a region of its own has in place of that of the process: bits of State that
/// count for it, and those of its region.
struct OwnRegion {
  std::uint64_t kept = ~std::uint64_t{0}, region = 0;
};
extern constinit thread_local OwnRegion own_region;

void begin_region(const char* name);
void end_region();
/// Once the profile has begun: those that began before it.
void begin_early_regions();
/// Sets their times to nothing. Holds the lock already.
void forget_regions();
/// Counts the time of those that are still open; from then on none is counted.
void settle_regions();

}  // namespace mpigauge::profile

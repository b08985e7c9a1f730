// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Regions: parts of a program with a name, that it begins and ends itself. They are of the whole
// process, so that what the threads of a region do counts for it; they nest.
#pragma once

namespace mpigauge::profile {

void begin_region(const char* name);
void end_region();
/// Once the profile has begun: those that began before it.
void begin_early_regions();
/// Sets their times to nothing. Holds the lock already.
void forget_regions();

}  // namespace mpigauge::profile

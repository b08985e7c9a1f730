// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What is to be found in our own file, and what not: see asked.cpp and weak.cpp.
#pragma once

namespace mpigauge::profile {

/// Whether it is in our own file.
bool is_ours(const void* address);
/// In files that were loaded since the last time.
void clear_weak_references();

}  // namespace mpigauge::profile

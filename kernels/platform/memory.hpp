// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a rank takes of the memory of its host.
#pragma once

#include <string>

namespace mpigauge::platform {

struct MemoryUse {
  double peak_bytes = 0.0;    ///< resident, at most so far
  double shared_bytes = 0.0;  ///< of what is resident now: shared memory, as MPI libraries map it
  /// To the limit of the control group that is closest to it, from the most it has taken so far;
  /// infinity where none has a limit, or it does not tell.
  double left_bytes = 0.0;
};
MemoryUse memory_use();

/// The same from files below this folder ("" for the system's own), for tests.
double memory_left(const std::string& root);

}  // namespace mpigauge::platform

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A loop over windows as one writes it by hand, for window_sync.cpp; it shares nothing with the
// kernels. All ranks are on one machine and read one time stamp counter.
#pragma once

#include <string>
#include <vector>

namespace by_hand {

/// Ticks of the counter in a second, the same on all ranks; all ranks together.
double find_rate();

/// Where messages lie, for all that go to and from each rank.
struct Memory {
  void* sent = nullptr;
  void* received = nullptr;
  void* own = nullptr;  ///< of these two what Bcast is given
};

/// Ticks from the opening of a window until the last rank was done, of every window that counted;
/// on rank 0, empty elsewhere. `name` is Bcast, Reduce, Allreduce, Alltoall, or another word for
/// windows without a call. All ranks together.
std::vector<double> visit(const std::string& name, int bytes, const Memory& memory);

}  // namespace by_hand

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Memory that has to be there until a request is done, as the arrays of types of MPI_Ialltoallw:
// the program's own have other handles in them than the target reads.
#pragma once

#include <atomic>

#include "abi.hpp"

namespace mpigauge::translate {

/// Memory of this thread's call, until its request is known.
void keep_for_next(void* memory);
/// All of that belongs to this request of the target.
void keep_with(Word request);
/// Something to be done when this request is: it gets the memory, which is freed then.
void keep_with(Word request, void (*then)(void*), void* memory);

extern std::atomic<int> kept_things;
/// Whether anything is kept at all: most programs have nothing, and pay a load for it.
inline bool things_kept() { return kept_things.load(std::memory_order_relaxed) != 0; }
[[gnu::cold, gnu::noinline]] void free_kept(Word request);
/// The request is done.
inline void finished(Word request) {
  if (things_kept()) [[unlikely]]
    free_kept(request);
}

}  // namespace mpigauge::translate

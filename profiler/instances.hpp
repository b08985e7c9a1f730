// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Which calls of a collective are kept with their times. All ranks of a communicator have to keep
// the same ones without talking to each other, a program that does something every so often must
// not be hit always at the same step, and the memory is bounded. So the calls are numbered as each
// rank sees them; on level k one of each 2^k is kept, which one is drawn from the numbers alone;
// and whoever is kept on a level is kept on all below it. So a rank may go up a level by itself:
// what both have is what the higher level has.
#pragma once

#include "layout.hpp"
#include "objects.hpp"
#include "thread.hpp"

namespace mpigauge::profile {

/// The number of the call that is kept of a block of 2^level calls.
constexpr std::uint64_t kept_of(std::uint64_t block, std::uint32_t level) {
  for (; level > 0; --level) {
    const std::uint64_t drawn = mixed(mixed(block + 1) ^ level);
    block = (2 * block) + ((drawn >> 20U) & 1U);
  }
  return block;
}

constexpr bool is_kept(std::uint64_t index, std::uint32_t level) {
  return kept_of(index >> level, level) == index;
}

struct Instances {
  layout::Instances* stored;
  std::uint64_t next;    // the next one that is kept
  std::uint32_t place;   // where it may be written from
  Instances* next_kind;  // of the communicator
  Instances* older;      // of all
};

/// Those of a collective on a communicator; null where there is nothing to wait for, or no room.
Instances* instances_of(Comm& comm, Call call, std::uint8_t bin);

/// What was until now counts no more; whoever starts anew holds the lock.
void forget_instances();

void keep_instance(Instances& instances, const Thread& thread, Ticks end, std::int32_t root);

inline void count_instance(Instances& instances, const Thread& thread, Ticks end,
                           std::int32_t root) {
  layout::Instances& stored = *instances.stored;
  stored.ticks += end - thread.began;
  if (stored.count == instances.next) [[unlikely]]
    keep_instance(instances, thread, end, root);
  ++stored.count;
}

}  // namespace mpigauge::profile

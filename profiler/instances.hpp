// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Which calls of a collective are kept with their times, and which messages. All ranks of a
// communicator have to keep the same ones without talking to each other, a program that does
// something every so often must not be hit always at the same step, and the memory is bounded. So
// they are numbered as each rank sees them; on level k one of each 2^k is kept, which one is drawn
// from the numbers alone; and whoever is kept on a level is kept on all below it. So a rank may go
// up a level by itself: what both have is what the higher level has.
#pragma once

#include <algorithm>
#include <array>

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

/// The next one that is kept behind `index`. That of its own block may still come, where the level
/// has just gone up.
constexpr std::uint64_t next_kept(std::uint64_t index, std::uint32_t level) {
  const std::uint64_t block = index >> level, own = kept_of(block, level);
  return own > index ? own : kept_of(block + 1, level);
}

/// Most blocks of places of a collective; of a channel a quarter, since there are more of these.
constexpr std::size_t most_blocks = 16;

/// What is not stored of those that are numbered: which one is kept next, where there may be a
/// place for it, and where the places are.
struct Picker {
  std::uint64_t next = 0;
  std::uint32_t place = 0;
  std::uint32_t blocks = 0;
  std::uint32_t may_have = 0;  // blocks
  std::array<layout::Kept*, most_blocks> block{};

  [[nodiscard]] layout::Instance& at(std::uint32_t which) const {
    return block[which / layout::kept_places]->instance[which % layout::kept_places];
  }
  [[nodiscard]] std::uint32_t places() const { return blocks * layout::kept_places; }
};

/// Gives what has this number its first places; false: there is no room. Holds the lock already.
bool begin_keeping(Picker& picker, std::uint32_t number, std::uint32_t may_have);
/// The number of the next collective or channel. Holds the lock already.
std::uint32_t next_number();
/// As many blocks as a collective may have: in large jobs fewer, as all ranks' files are read.
std::uint32_t blocks_of_collective();
/// More places, where it may have them, and there is room.
bool has_more_places(Picker& picker);

/// Whether the one that comes now is kept.
template <class Stored>
bool picks(const Stored& stored, Picker& picker) {
  if (stored.count != picker.next) [[likely]]
    return false;
  picker.next = next_kept(stored.count, stored.level);
  return is_kept(stored.count, stored.level);
}

/// Keeps one that was picked. Where all places are taken that it may have, every second one is
/// given up; not at once, which would be a pause on all ranks, but when its place is needed.
template <class Stored>
void keep(Stored& stored, Picker& picker, const layout::Instance& instance) {
  const auto free_from = [&stored, &picker](std::uint32_t place) {
    while (place < stored.used && is_kept(picker.at(place).index, stored.level)) ++place;
    return place;
  };
  std::uint32_t place = free_from(picker.place);
  while (place == picker.places() && !has_more_places(picker)) {
    ++stored.level;
    place = free_from(0);
  }
  picker.place = place;
  if (!is_kept(instance.index, stored.level)) return;
  picker.at(place) = instance;
  stored.used = std::max(stored.used, place + 1);
  picker.place = place + 1;
}

struct Instances {
  layout::Instances* stored;
  Picker picker;
  Instances* next_kind;  // of the communicator
  Instances* older;      // of all
};

/// Those of a collective on a communicator; null where there is nothing to wait for, or no room.
Instances* instances_of(Comm& comm, Call call, std::uint8_t bin);

/// What was until now counts no more; whoever starts anew holds the lock.
void forget_instances();

/// Of a call that blocks: keeps it if it is its turn.
inline void count_instance(Instances& instances, const Thread& thread, Ticks end,
                           std::int32_t root) {
  layout::Instances& stored = *instances.stored;
  stored.ticks += end - thread.began;
  if (picks(stored, instances.picker)) [[unlikely]] {
    keep(stored, instances.picker,
         {.index = static_cast<std::uint32_t>(stored.count),
          .thread = thread.stored->thread,
          .site = thread.place->site->site,
          .root = root,
          .posted = thread.began,
          .entered = thread.began,
          .left = end,
          .needs = 1,
          .unused = 0});
  }
  ++stored.count;
}

}  // namespace mpigauge::profile

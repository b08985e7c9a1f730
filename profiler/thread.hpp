// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What a thread has of its own: its sites and cells, in the file, and the tables by which it finds
// them. No other thread writes there, so a call takes no lock.
#pragma once

#include "facts.hpp"
#include "library.hpp"
#include "process.hpp"
#include "stack.hpp"

namespace mpigauge::profile {

struct Instances;
struct Channel;

/// What a site's last message was: most often the next is the same, and its cell is known.
struct Memo {
  layout::Cell* cell = nullptr;
  union {
    Instances* instances = nullptr;  // where collectives of its kind are kept; see instances.hpp
    Channel* channel;                // where messages of its kind are kept; see messages.hpp
  };
  Word comm = 0, type = 0, operation = 0;
  std::int64_t count = 0;
  std::uint64_t amount = 0;
  std::int32_t peer = 0;
  std::uint32_t handles = 0;
};

// What calls touch lies together: between two calls a program uses the caches for itself.
constexpr std::size_t line = 64;

/// A site, and what is not stored of it.
struct alignas(line) Place {
  layout::Site* site;
  Memo first;
  Memo second;
  Place* next;   // of the same hash
  Place* older;  // of all
  std::uint64_t hash;
  std::uint32_t frames;
  std::uint32_t line;  // of Python; 0: none
  Word pc[1];
};

/// A stack that was seen, and its place.
struct alignas(line) Known {
  Word pc, sp, fp;
  std::uint64_t key;
  Place* place;
  std::uint16_t checks;
  bool uses_fp;
  std::uint32_t line;
  Check check[1];
};

struct alignas(line) Thread {
  // Of the call that goes on now.
  Place* place = nullptr;
  Ticks began = 0;
  Word inside = 0;                     // the stack pointer where it was made; 0: none
  layout::Pending* pending = nullptr;  // the same, in the file

  std::byte* known = nullptr;
  std::size_t known_bytes = 0;  // of each
  std::uint64_t* step = nullptr;
  Ticks step_end = 0;
  std::uint64_t sent = 0;  // bytes, up to the step before

  Word message_comm = 0;  // the communicator of a message that was matched and is received now
  Status status;
  layout::Thread* stored = nullptr;
  Place** places = nullptr;  // by hash
  Place* all_places = nullptr;
  std::uint64_t seen_code = 0;
  std::uint32_t sites = 0;
  layout::Cell** cells = nullptr;  // by what they are for
  std::size_t cell_mask = 0, cell_count = 0;
  layout::Cells* chunk = nullptr;  // the one that is being filled
  layout::Cpus* cpus = nullptr;
  Thread* next_idle = nullptr;
  // Messages that were matched and not received yet, and the communicators on which they came.
  struct Matched {
    Word message, comm;
  };
  std::array<Matched, 64> matched{};
};

constexpr std::size_t stacks_known = 1024;

/// Where a stack would be that is known.
inline Known& known_for(const Thread& thread, const Caller& caller, std::uint64_t key) {
  const std::uint64_t line_bits = static_cast<std::uint64_t>(caller.line) << 8U;
  const std::uint64_t hash = mixed(caller.pc ^ (caller.sp << 20U) ^ (key << 1U) ^ line_bits);
  return *reinterpret_cast<Known*>(thread.known + ((hash % stacks_known) * thread.known_bytes));
}

/// Whether it is that stack: each word that was read on the way is what it was.
inline bool is_same(const Known& known, const Caller& caller, std::uint64_t key) {
  if (known.pc != caller.pc || known.sp != caller.sp || known.key != key) return false;
  if (known.line != caller.line) return false;
  if (known.uses_fp && known.fp != caller.fp) return false;
  for (std::uint32_t n = 0; n < known.checks; ++n) {
    if (*known.check[n].at != known.check[n].value) return false;
  }
  return true;
}

/// Of the calling thread; null before its first call.
extern constinit thread_local Thread* self;

/// Makes or takes over the tables of a thread that has none yet; null when there is no memory.
Thread* begin_thread();

/// The site of a call; null when there is no room for a new one.
Place* find_place(Thread& thread, const Caller& caller, std::uint64_t key, Call call);

/// What tells one cell from another.
struct CellKey {
  std::uint32_t site, comm;
  std::int32_t peer;
  layout::Way way;
  std::uint8_t bin;
  std::uint16_t type;
};
layout::Cell* find_cell(Thread& thread, const CellKey& key);

/// Goes on to the step that it is now, in the time line, and shares a long call out.
void advance_steps(Thread& thread, Ticks end, Ticks took);

}  // namespace mpigauge::profile

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What happens around a call of MPI: enter() and begin() before it, leave() after it. Between
// begin() and leave() is nothing but the call; the clock is read last in one and first in the
// other.
#pragma once

#include "facts.hpp"
#include "thread.hpp"
#include "words.hpp"

namespace mpigauge::profile {

/// The thread whose call this is. Null: the call is not recorded. begin() starts its clock.
Thread* enter(Call call, Word pc, Word sp, Word fp);

/// Starts the clock of a call that was entered, last of all before the call itself. From here on
/// the file says that it goes on.
inline void begin(Thread& thread) {
  thread.began = ticks();
  std::atomic_ref(thread.pending->since).store(thread.began, std::memory_order_release);
}

/// Counts the call that was entered, by its arguments and by what it returned.
void leave(Thread& thread, Call call, const Word* arguments, int code);

/// Times a call of a function that does nothing, by the first thread before its first call: what
/// the clock sees of ourselves is taken off from then on.
void measure_own_cost();

/// What a persistent request is about, after the call that made it.
void keep_persistent(Call call, const Word* arguments);
/// Before a matched message is received: which communicator it came on, as far as this thread
/// knows.
void recall_matched(Thread& thread, Word message);

/// Whether a call says by its status what it received, or what there is to be received.
constexpr bool tells_by_status(const Facts& facts) {
  const bool receives = facts.received.how != Count::none || facts.group == Group::probe;
  return facts.status != nowhere && receives && facts.group != Group::file;
}

/// Where a call would not tell what it received, an argument that makes it do so.
inline void ask_for_status(Thread* thread, Word& argument) {
  if (thread != nullptr && argument == abi.status_ignore) {
    argument = reinterpret_cast<Word>(&thread->status);
  }
}

}  // namespace mpigauge::profile

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Which messages are kept with their times, and what a call waited for.
//
// MPI lets no message overtake another of the same sender, receiver, communicator and tag. So both
// sides number the messages of a channel by themselves, the one as it sends, the other as it asks
// for them, and keep the same ones (instances.hpp). A channel is for a direction, a peer and those
// tags that have the same four bits, so that programs which count their tags up need no more
// memory.
//
// Messages and collectives whose request somebody waits for later are noted from their start on,
// as the call that waits sees nothing but requests. All this is for programs in which one thread
// calls MPI: where others do, the order of what they do is not known, and nothing more is kept.
#pragma once

#include <atomic>

#include "instances.hpp"
#include "objects.hpp"
#include "thread.hpp"

namespace mpigauge::profile {

struct Channel {
  layout::Channel* stored;
  Picker picker;
  Comm* comm;
  std::uint8_t tags;
  std::uint64_t probed;  // behind the last one that was only looked at
  Channel* older;
};

/// Where a call may have said any tag.
constexpr int no_tag = -1;

/// Which tags go together: the lowest four bits, with the next ones folded onto them.
constexpr std::uint8_t tags_of(int tag) {
  auto bits = static_cast<std::uint32_t>(tag);
  bits ^= bits >> 16U;
  bits ^= bits >> 8U;
  bits ^= bits >> 4U;
  return static_cast<std::uint8_t>(bits & 15U);
}

/// The channel of a message. Null where nobody can be waited for, where the peer or the tag is not
/// known, and where there is no room.
Channel* channel_of(Comm* comm, std::int32_t peer, layout::Way way, int tag);

/// The same, by that of the last message between the two.
inline Channel* channel_beside(Channel* channel, int tag) {
  if (channel == nullptr || channel->tags == tags_of(tag)) [[likely]]
    return channel;
  const layout::Channel& stored = *channel->stored;
  return channel_of(channel->comm, stored.peer, static_cast<layout::Way>(stored.way), tag);
}

/// The thread whose messages and requests are followed.
extern constinit std::atomic<const Thread*> followed;
/// Whether it is this one, if there is none yet. Another one ends it for all.
bool begin_following(const Thread& thread);
inline bool is_followed(const Thread& thread) {
  return followed.load(std::memory_order_relaxed) == &thread || begin_following(thread);
}
/// Nothing is followed from here on: the program does what makes the order of messages unknown.
void stop_following();
/// Nobody knows any more which messages come next on a communicator.
void receives_are_unclear(Comm* comm);

/// Counts a message of a call that does not wait, or that blocks until it is there.
void count_message(Channel& channel, const Thread& thread, Ticks end, int tag);
/// One that is the next, and stays so: it is only looked at.
void note_probed(Channel& channel, const Thread& thread, Ticks end, int tag);

/// Whether a call ends requests.
constexpr bool ends_requests(Call call) {
  switch (call) {
    case call_Wait:
    case call_Waitall:
    case call_Waitany:
    case call_Waitsome:
    case call_Test:
    case call_Testall:
    case call_Testany:
    case call_Testsome: return true;
    default: return false;
  }
}

/// What a call has begun that somebody has to wait for; where it is not known of which channel it
/// is, or there is none, it is no more than that.
void request_posted(Word request, Channel* channel, int tag, const Thread& thread,
                    bool is_persistent);
void request_posted(Word request, Instances* instances, std::int32_t root, const Thread& thread);
/// It is no more waited for.
void request_dropped(Word request);

/// Before a call that waits for requests or tests them: looks at them, as they are gone afterwards.
void note_requests(const Facts& facts, const Word* arguments);
/// After it.
void requests_ended(const Thread& thread, const Facts& facts, const Word* arguments, Ticks end);
/// After one that was not recorded.
void drop_ended(const Facts& facts, const Word* arguments);

/// What was until now counts no more; whoever starts anew holds the lock.
void forget_messages();

}  // namespace mpigauge::profile

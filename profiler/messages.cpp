// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "messages.hpp"

#include "library.hpp"

namespace mpigauge::profile {

constinit std::atomic<const Thread*> followed{nullptr};

namespace {

using layout::Way;

// Who is followed where nothing is followed any more: no thread is there.
constinit const Thread nobody{};

// --- channels -----------------------------------------------------------------------------------

constexpr std::uint32_t most_channels = 512;
std::uint32_t channel_count = 0;
WordMap channels;
Channel* all_channels = nullptr;

std::uint64_t key_of(const Comm& comm, std::int32_t peer, Way way, std::uint8_t tags) {
  const auto with = static_cast<std::uint64_t>(static_cast<std::uint32_t>(peer));
  const std::uint64_t kind = (static_cast<std::uint64_t>(way) << 4U) | tags;
  return mixed(mixed((with << 32U) | comm.number) ^ kind) | 1U;
}

Channel* make_channel(Comm& comm, std::int32_t peer, Way way, std::uint8_t tags,
                      std::uint64_t key) {
  const bool ended = followed.load(std::memory_order_relaxed) == &nobody;
  if (ended || channel_count == most_channels) return nullptr;
  auto* const channel = own<Channel>();
  auto* const stored = process.storage.make<layout::Channel>();
  if (channel == nullptr || stored == nullptr) return nullptr;
  const std::uint32_t number = next_number();
  if (!begin_keeping(channel->picker, number, blocks_of_collective() / 4)) return nullptr;
  ++channel_count;
  stored->kept = number;
  stored->comm = comm.number;
  stored->peer = peer;
  stored->way = static_cast<std::uint8_t>(way);
  stored->tags = tags;
  Storage::publish(stored->block, layout::Kind::channel);
  channel->stored = stored;
  channel->comm = &comm;
  channel->tags = tags;
  channel->older = all_channels;
  all_channels = channel;
  channels.put(key, reinterpret_cast<Word>(channel));
  return channel;
}

// --- requests -----------------------------------------------------------------------------------

// What was begun and is not waited for yet.
struct Posted {
  Word request;  // 0: none
  Channel* channel;
  Instances* instances;
  std::uint64_t index;
  Ticks posted;
  std::int32_t root_or_tag;
  bool is_kept, is_persistent;
};

// A request is in one of a few places behind the one that its handle leads to.
constexpr std::size_t posted_places = 4096, reach = 16;
std::array<Posted, posted_places + reach> all_posted;
std::size_t posted_count = 0;

// `like` is the request itself, or 0: a place for it.
Posted* find_posted(Word request, Word like) {
  Posted* const first = &all_posted[mixed(request) % posted_places];
  for (Posted* at = first; at != first + reach; ++at) {
    if (at->request == like) return at;
  }
  return nullptr;
}

void forget(Posted& posted) {
  posted.request = 0;
  --posted_count;
}

// A request that is known already is one whose end nobody saw.
void note(const Posted& posted) {
  Posted* place = find_posted(posted.request, posted.request);
  if (place == nullptr) {
    place = find_posted(posted.request, 0);
    if (place == nullptr) return stop_following();
    ++posted_count;
  }
  *place = posted;
}

// Those of the call that goes on now.
struct Ending {
  Posted* posted;
  std::size_t place;  // among its requests
};
std::array<Ending, 1024> all_ending;
std::size_t ending_count = 0;

std::size_t requests_in(const Facts& facts, const Word* arguments) {
  if (arguments[facts.request] == 0) return 0;  // which is the MPI's to tell
  if (facts.requests == one_request) return 1;
  const int count = as_int(arguments[facts.requests]);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

// Which of them have ended, first. MPI forgets requests that have, but for persistent ones: whether
// one of several of these has ended is not looked at.
std::size_t ended_first(const Facts& facts, const Word* arguments, bool all) {
  if (all) return ending_count;
  std::size_t ended = 0;
  for (std::size_t n = 0; n < ending_count; ++n) {
    const Ending& each = all_ending[n];
    const bool is_over = handle_in(arguments[facts.request], each.place) != each.posted->request;
    if (each.posted->is_persistent) {
      forget(*each.posted);
    } else if (is_over) {
      all_ending[ended++] = each;
    }
  }
  return ended;
}

bool waits_for_all(Call call) { return call == call_Wait || call == call_Waitall; }
bool waits_for_any(Call call) { return call == call_Waitany || call == call_Waitsome; }

void keep_ended(const Posted& posted, const Thread& thread, Ticks end, std::size_t needs) {
  if (!posted.is_kept) return;
  const layout::Instance instance{.index = static_cast<std::uint32_t>(posted.index),
                                  .thread = thread.stored->thread,
                                  .site = thread.place->site->site,
                                  .root = posted.root_or_tag,
                                  .posted = posted.posted,
                                  .entered = thread.began,
                                  .left = end,
                                  .needs = static_cast<std::uint32_t>(needs),
                                  .unused = 0};
  if (posted.channel != nullptr) keep(*posted.channel->stored, posted.channel->picker, instance);
  if (posted.instances != nullptr) {
    keep(*posted.instances->stored, posted.instances->picker, instance);
  }
}

layout::Instance message(const Thread& thread, Ticks end, std::uint64_t index, int tag) {
  return {.index = static_cast<std::uint32_t>(index),
          .thread = thread.stored->thread,
          .site = thread.place->site->site,
          .root = tag,
          .posted = thread.began,
          .entered = thread.began,
          .left = end,
          .needs = 1,
          .unused = 0};
}

}  // namespace

Channel* channel_of(Comm* comm, std::int32_t peer, Way way, int tag) {
  const bool known = comm != nullptr && peer >= 0 && tag > no_tag;
  if (!known || peer == comm->rank || comm->stored->remote_size > 0) return nullptr;
  const std::uint8_t tags = tags_of(tag);
  const std::uint64_t key = key_of(*comm, peer, way, tags);
  if (const Word found = channels.find(key)) return reinterpret_cast<Channel*>(found);
  const Locked locked;
  if (const Word found = channels.find(key)) return reinterpret_cast<Channel*>(found);
  return make_channel(*comm, peer, way, tags, key);
}

bool begin_following(const Thread& thread) {
  const Thread* known = followed.load(std::memory_order_relaxed);
  if (known == nullptr && followed.compare_exchange_strong(known, &thread)) return true;
  if (known != &nobody) stop_following();
  return false;
}

void stop_following() { followed.store(&nobody, std::memory_order_relaxed); }

void receives_are_unclear(Comm* comm) {
  if (comm != nullptr) comm->receives_unclear = true;
}

void count_message(Channel& channel, const Thread& thread, Ticks end, int tag) {
  layout::Channel& stored = *channel.stored;
  if (picks(stored, channel.picker)) [[unlikely]] {
    keep(stored, channel.picker, message(thread, end, stored.count, tag));
  }
  ++stored.count;
}

void note_probed(Channel& channel, const Thread& thread, Ticks end, int tag) {
  layout::Channel& stored = *channel.stored;
  if (channel.probed > stored.count) return;  // it was looked at before
  channel.probed = stored.count + 1;
  if (stored.count == channel.picker.next && is_kept(stored.count, stored.level)) {
    keep(stored, channel.picker, message(thread, end, stored.count, tag));
  }
}

void request_posted(Word request, Channel* channel, int tag, const Thread& thread,
                    bool is_persistent) {
  Posted posted{.request = request,
                .channel = channel,
                .instances = nullptr,
                .index = 0,
                .posted = thread.began,
                .root_or_tag = tag,
                .is_kept = false,
                .is_persistent = is_persistent};
  if (channel != nullptr) {
    posted.index = channel->stored->count;
    posted.is_kept = picks(*channel->stored, channel->picker);
    ++channel->stored->count;
  }
  note(posted);
}

void request_posted(Word request, Instances* instances, std::int32_t root, const Thread& thread) {
  Posted posted{.request = request,
                .channel = nullptr,
                .instances = instances,
                .index = 0,
                .posted = thread.began,
                .root_or_tag = root,
                .is_kept = false,
                .is_persistent = false};
  if (instances != nullptr) {
    posted.index = instances->stored->count;
    posted.is_kept = picks(*instances->stored, instances->picker);
    ++instances->stored->count;
  }
  note(posted);
}

void request_dropped(Word request) {
  if (posted_count == 0 || followed.load(std::memory_order_relaxed) != self) return;
  if (Posted* const posted = find_posted(request, request)) forget(*posted);
}

void note_requests(const Facts& facts, const Word* arguments) {
  if (posted_count == 0) return;
  const bool is_own = followed.load(std::memory_order_relaxed) == self;
  if (!is_own || self->inside != 0) return stop_following();
  ending_count = 0;
  const std::size_t count = requests_in(facts, arguments);
  for (std::size_t n = 0; n < count; ++n) {
    const Word request = handle_in(arguments[facts.request], n);
    Posted* const posted = request == 0 ? nullptr : find_posted(request, request);
    if (posted == nullptr) continue;
    if (ending_count == all_ending.size()) return stop_following();
    all_ending[ending_count++] = {posted, n};
  }
}

// What waits for any of several waits for the first: of two that came meanwhile nobody knows which.
void requests_ended(const Thread& thread, const Facts& facts, const Word* arguments, Ticks end) {
  if (!is_followed(thread) || ending_count == 0) return;
  const auto call = static_cast<Call>(thread.place->site->call);
  const std::size_t ended = ended_first(facts, arguments, waits_for_all(call));
  const bool clear = waits_for_all(call) || (waits_for_any(call) && ended == 1);
  for (std::size_t n = 0; n < ended; ++n) {
    Posted& posted = *all_ending[n].posted;
    if (clear) keep_ended(posted, thread, end, ended);
    forget(posted);
  }
  ending_count = 0;
}

void drop_ended(const Facts& facts, const Word* arguments) {
  if (followed.load(std::memory_order_relaxed) != self || ending_count == 0) return;
  const std::size_t ended = ended_first(facts, arguments, false);
  for (std::size_t n = 0; n < ended; ++n) forget(*all_ending[n].posted);
  ending_count = 0;
}

void forget_messages() {
  for (Channel const* at = all_channels; at != nullptr; at = at->older) {
    at->stored->from = at->stored->count;
  }
}

}  // namespace mpigauge::profile

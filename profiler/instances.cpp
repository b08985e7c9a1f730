// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "instances.hpp"

#include <algorithm>

namespace mpigauge::profile {

namespace {

constexpr std::uint32_t most_kinds = 512;
std::uint32_t kinds = 0;
Instances* all_kinds = nullptr;

// Amounts of these differ from rank to rank, so no size tells them apart.
bool has_one_size(const Facts& facts) {
  const auto one = [](const Amount& amount) { return amount.how <= Count::value; };
  const bool sums_for_all = facts.operation != nowhere;
  return sums_for_all || (one(facts.sent) && one(facts.received) && one(facts.in_place));
}

Instances* make(Comm& comm, Call call, std::uint8_t bin) {
  if (kinds == most_kinds) return nullptr;
  auto* const instances = own<Instances>();
  auto* const stored = process.storage.make<layout::Instances>();
  if (instances == nullptr || stored == nullptr) return nullptr;
  ++kinds;
  stored->comm = comm.number;
  stored->call = call;
  stored->bin = bin;
  stored->waits = static_cast<std::uint8_t>(facts_of[call].waits);
  Storage::publish(stored->block, layout::Kind::instances);
  *instances = {
      .stored = stored, .next = 0, .place = 0, .next_kind = comm.kinds, .older = all_kinds};
  comm.kinds = all_kinds = instances;
  return instances;
}

// The first place from `from` on that is empty, or has one that is kept no more.
std::uint32_t free_place(const layout::Instances& stored, std::uint32_t from) {
  while (from < stored.used && is_kept(stored.instance[from].index, stored.level)) ++from;
  return from;
}

// The one of the own block may still come, where the level has just gone up.
std::uint64_t next_kept(std::uint64_t index, std::uint32_t level) {
  const std::uint64_t block = index >> level, own = kept_of(block, level);
  return own > index ? own : kept_of(block + 1, level);
}

}  // namespace

Instances* instances_of(Comm& comm, Call call, std::uint8_t bin) {
  const Facts& facts = facts_of[call];
  if (facts.waits == Waits::nobody || comm.stored->size < 2 || comm.stored->remote_size > 0) {
    return nullptr;
  }
  const std::uint8_t size = has_one_size(facts) ? bin : layout::other_sizes;
  const Locked locked;
  for (Instances* at = comm.kinds; at != nullptr; at = at->next_kind) {
    if (at->stored->call == call && at->stored->bin == size) return at;
  }
  return make(comm, call, size);
}

void forget_instances() {
  for (Instances const* at = all_kinds; at != nullptr; at = at->older) {
    at->stored->from = at->stored->count;
    at->stored->ticks = 0;
  }
}

// Where all places are taken, every second one is given up; not at once, which would be a pause on
// all ranks, but when its place is needed.
void keep_instance(Instances& instances, const Thread& thread, Ticks end, std::int32_t root) {
  layout::Instances& stored = *instances.stored;
  const std::uint64_t index = stored.count;
  std::uint32_t place = free_place(stored, instances.place);
  while (place == layout::most_instances) {
    ++stored.level;
    place = free_place(stored, 0);
  }
  instances.place = place;
  if (is_kept(index, stored.level)) {
    stored.instance[place] = {.index = static_cast<std::uint32_t>(index),
                              .thread = thread.stored->thread,
                              .site = thread.place->site->site,
                              .root = root,
                              .entered = thread.began,
                              .left = end};
    stored.used = std::max(stored.used, place + 1);
    instances.place = place + 1;
  }
  instances.next = next_kept(index, stored.level);
}

}  // namespace mpigauge::profile

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "instances.hpp"

namespace mpigauge::profile {

namespace {

constexpr std::uint32_t most_kinds = 512;
std::uint32_t kinds = 0;
Instances* all_kinds = nullptr;

// Of those that were given their first places.
std::uint32_t numbered = 0;
// Blocks that all together may have beyond their first: 25 MB.
std::uint32_t more_blocks = 2048;

// With the lock.
bool add_block(Picker& picker, std::uint32_t number) {
  auto* const kept = process.storage.make<layout::Kept>();
  if (kept == nullptr) return false;
  kept->of = number;
  kept->part = picker.blocks;
  Storage::publish(kept->block, layout::Kind::kept);
  picker.block[picker.blocks++] = kept;
  return true;
}

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
  const std::uint32_t number = next_number();
  if (!begin_keeping(instances->picker, number, blocks_of_collective())) return nullptr;
  ++kinds;
  stored->kept = number;
  stored->comm = comm.number;
  stored->call = call;
  stored->bin = bin;
  stored->waits = static_cast<std::uint8_t>(facts_of[call].waits);
  Storage::publish(stored->block, layout::Kind::instances);
  instances->stored = stored;
  instances->next_kind = comm.kinds;
  instances->older = all_kinds;
  comm.kinds = all_kinds = instances;
  return instances;
}

}  // namespace

std::uint32_t next_number() { return numbered++; }

bool begin_keeping(Picker& picker, std::uint32_t number, std::uint32_t may_have) {
  picker.may_have = may_have;
  return add_block(picker, number);
}

bool has_more_places(Picker& picker) {
  if (picker.blocks == picker.may_have) return false;
  const Locked locked;
  if (more_blocks == 0 || !add_block(picker, picker.block[0]->of)) return false;
  --more_blocks;
  return true;
}

std::uint32_t blocks_of_collective() {
  constexpr std::uint32_t of_all_ranks = 1024, least = 4;
  const auto ranks = static_cast<std::uint32_t>(std::max(process.storage.head().ranks, 1));
  return std::clamp<std::uint32_t>(of_all_ranks / ranks, least, most_blocks);
}

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

}  // namespace mpigauge::profile

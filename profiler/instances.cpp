// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "instances.hpp"

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
  *instances = {.stored = stored, .picker = {}, .next_kind = comm.kinds, .older = all_kinds};
  comm.kinds = all_kinds = instances;
  return instances;
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

}  // namespace mpigauge::profile

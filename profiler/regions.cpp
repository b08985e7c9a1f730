// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "regions.hpp"

#include <array>
#include <cstdio>
#include <cstring>

#include "process.hpp"

namespace mpigauge::profile {

namespace {

constexpr std::size_t most_regions = 1024, deepest = 64;

std::array<layout::Region*, most_regions> regions{};  // by number, from 1
std::uint32_t count = 0;

struct Open {
  std::uint32_t region;
  Ticks since;
};
std::array<Open, deepest> open{};
// Goes on beyond what is kept, so that each end meets its beginning.
std::size_t depth = 0;

// Regions that began before the first call of MPI, which is when the profile begins.
std::array<decltype(layout::Region::name), deepest> early{};
std::size_t early_depth = 0;

bool has_started() { return process.state.load(std::memory_order_relaxed) != 0; }

void begin_early(const char* name) {
  if (early_depth < deepest) {
    std::snprintf(early[early_depth].data(), early[early_depth].size(), "%s", name);
  }
  ++early_depth;
}

std::uint32_t current() { return depth == 0 ? 0 : open[depth - 1].region; }

void enter(std::uint32_t region) {
  const std::uint64_t word = process.state.load(std::memory_order_relaxed);
  const std::uint64_t without = word & ~(State::region_mask << State::region_shift);
  process.state.store(without | (static_cast<std::uint64_t>(region) << State::region_shift),
                      std::memory_order_release);
}

layout::Region* make_region(const char* name, std::uint32_t parent) {
  if (count + 1 == most_regions) return nullptr;
  auto* const region = process.storage.make<layout::Region>();
  if (region == nullptr) return nullptr;
  region->region = ++count;
  region->parent = parent;
  std::snprintf(region->name.data(), region->name.size(), "%s", name);
  regions[count] = region;
  Storage::publish(region->block, layout::Kind::region);
  return region;
}

// Where there is no room for another, it counts for the one around it.
std::uint32_t region_named(const char* name, std::uint32_t parent) {
  for (std::uint32_t n = 1; n <= count; ++n) {
    const layout::Region& region = *regions[n];
    const std::size_t most = region.name.size() - 1;
    if (region.parent == parent && std::strncmp(region.name.data(), name, most) == 0) return n;
  }
  const layout::Region* const made = make_region(name, parent);
  return made == nullptr ? parent : made->region;
}

}  // namespace

void begin_region(const char* name) {
  const Locked locked;
  if (!has_started()) return begin_early(name);
  if (!process.keeps || process.is_child) return;
  if (depth < deepest) {
    const std::uint32_t region = region_named(name, current());
    open[depth] = {region, ticks()};
    if (region != 0) ++regions[region]->entered;
    enter(region);
  }
  ++depth;
}

void end_region() {
  const Locked locked;
  if (!has_started() && early_depth > 0) --early_depth;
  if (!process.keeps || process.is_child || depth == 0) return;
  --depth;
  if (depth >= deepest) return;
  const Open& ended = open[depth];
  if (ended.region != 0) regions[ended.region]->ticks += ticks() - ended.since;
  enter(current());
}

void begin_early_regions() {
  for (std::size_t n = 0; n < early_depth; ++n) begin_region(n < deepest ? early[n].data() : "");
}

void forget_regions() {
  for (std::uint32_t n = 1; n <= count; ++n) regions[n]->entered = regions[n]->ticks = 0;
  for (std::size_t n = 0; n < depth && n < deepest; ++n) open[n].since = ticks();
}

}  // namespace mpigauge::profile

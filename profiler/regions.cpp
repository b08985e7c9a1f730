// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "regions.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "process.hpp"

namespace mpigauge::profile {

constinit thread_local OwnRegion own_region{};

namespace {

constexpr std::size_t most_regions = 1024, deepest = 64;

std::array<layout::Region*, most_regions> regions{};  // by number, from 1
std::uint32_t count = 0;
Ticks counted_from = 0;  // the profile was started anew then
bool settled = false;    // MPI has ended, and with it what is counted

struct Open {
  std::uint32_t region;  // 0: none
  Ticks since;
};
// The regions that are open, one within the other.
struct Nest {
  std::array<Open, deepest> open;
  std::size_t depth;  // goes on beyond what is kept, so that each end meets its beginning

  [[nodiscard]] std::uint32_t current() const {
    return depth == 0 ? 0 : open[std::min(depth, deepest) - 1].region;
  }
};
Nest of_process{};
constinit thread_local Nest of_thread{};

// Regions that began before the first call of MPI, which is when the profile begins.
std::array<decltype(layout::Region::name), deepest> early{};
std::size_t early_depth = 0;

bool has_started() { return process.state.load(std::memory_order_relaxed) != 0; }

bool is_main_thread() {
  enum class Which : std::uint8_t { unknown, main, other };
  static constinit thread_local Which which = Which::unknown;
  if (which == Which::unknown) {
    which = syscall(SYS_gettid) == getpid() ? Which::main : Which::other;
  }
  return which == Which::main;
}

// --- where calls look ---------------------------------------------------------------------------

constexpr std::uint64_t region_bits = State::region_mask << State::region_shift;

std::uint64_t bits_of(std::uint32_t region) {
  return static_cast<std::uint64_t>(region) << State::region_shift;
}

void show_process() {
  const std::uint64_t without = process.state.load(std::memory_order_relaxed) & ~region_bits;
  process.state.store(without | bits_of(of_process.current()), std::memory_order_release);
}

void show_thread() {
  const std::uint32_t region = of_thread.current();
  own_region = region == 0 ? OwnRegion{} : OwnRegion{~region_bits, bits_of(region)};
}

// --- what is stored -----------------------------------------------------------------------------

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

void count_time(const Open& open, Ticks now) {
  if (settled || open.region == 0) return;
  regions[open.region]->ticks += now - std::max(open.since, counted_from);
}

// --- beginnings and ends ------------------------------------------------------------------------

void open_region(Nest& nest, std::uint32_t region) {
  if (nest.depth < deepest) {
    if (region != 0) ++regions[region]->entered;
    nest.open[nest.depth] = {region, ticks()};
  }
  ++nest.depth;
}

// A thread that began regions before the profile began has those without a name.
void begin_early(const char* name) {
  if (!is_main_thread()) return open_region(of_thread, 0);
  if (early_depth < deepest) {
    std::snprintf(early[early_depth].data(), early[early_depth].size(), "%s", name);
  }
  ++early_depth;
}

void end_early() {
  if (is_main_thread()) {
    early_depth -= early_depth > 0 ? 1 : 0;
  } else {
    of_thread.depth -= of_thread.depth > 0 ? 1 : 0;
  }
}

void begin_in_process(const char* name) {
  open_region(of_process, region_named(name, of_process.current()));
  show_process();
}

void begin_in_thread(const char* name) {
  const std::uint32_t around = of_thread.current();
  open_region(of_thread, region_named(name, around == 0 ? of_process.current() : around));
  show_thread();
}

// Said once, and by one rank.
void tell_of_end() {
  static bool said = false;
  if (said || process.storage.head().rank > 0) return;
  said = true;
  tell("mpigauge_end() was called where no region is open; it is passed over");
}

void close_region(Nest& nest) {
  if (nest.depth == 0) return tell_of_end();
  --nest.depth;
  if (nest.depth < deepest) count_time(nest.open[nest.depth], ticks());
}

bool works() { return process.keeps && !process.is_child; }

}  // namespace

void begin_region(const char* name) {
  const Locked locked;
  if (!has_started()) return begin_early(name);
  if (!works()) return;
  if (is_main_thread()) {
    begin_in_process(name);
  } else {
    begin_in_thread(name);
  }
}

void end_region() {
  const Locked locked;
  if (!has_started()) return end_early();
  if (!works()) return;
  if (is_main_thread()) {
    close_region(of_process);
    show_process();
  } else {
    close_region(of_thread);
    show_thread();
  }
}

void begin_early_regions() {
  if (!works()) return;
  for (std::size_t n = 0; n < early_depth; ++n)
    begin_in_process(n < deepest ? early[n].data() : "");
}

void forget_regions() {
  for (std::uint32_t n = 1; n <= count; ++n) regions[n]->entered = regions[n]->ticks = 0;
  counted_from = ticks();
}

void settle_regions() {
  const Locked locked;
  const Ticks now = ticks();
  const std::size_t kept = std::min(of_process.depth, deepest);
  for (std::size_t n = 0; n < kept; ++n) count_time(of_process.open[n], now);
  settled = true;
}

}  // namespace mpigauge::profile

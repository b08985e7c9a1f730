// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/pool.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace mpigauge::node {

namespace {

constexpr int patience = 20'000;  // looks, about as long as between two samples, before it sleeps

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// 0:2+3 names a place for each thread.
std::vector<platform::CpuSet> named(const std::string& text,
                                    const std::vector<platform::CpuPlace>& cpus) {
  std::vector<platform::CpuSet> places;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(':', at), text.size());
    std::string entry = text.substr(at, end - at);
    std::replace(entry.begin(), entry.end(), '+', ',');
    const auto set = platform::parse_cpuset(entry);
    if (!set || set->empty()) {
      throw std::invalid_argument("'" + text + "' is none of compact, scatter and places: 0:2+3");
    }
    for (const int cpu : *set) {
      if (std::none_of(cpus.begin(), cpus.end(), [cpu](const auto& p) { return p.cpu == cpu; })) {
        throw std::invalid_argument("a thread was to be on core " + std::to_string(cpu) +
                                    ", which this rank may not use");
      }
    }
    places.push_back(*set);
    at = end + 1;
  }
  return places;
}

// Which NUMA node of its package that is, and which core of its NUMA node, both counted from 0.
struct Ordinal {
  int node = 0;
  int core = 0;
};

std::map<int, Ordinal> ordinals(const std::vector<platform::CpuPlace>& cpus) {
  std::map<int, std::vector<int>> nodes;                  // of packages
  std::map<std::pair<int, int>, std::vector<int>> cores;  // of NUMA nodes, by hardware thread
  std::map<int, Ordinal> found;
  const auto place_in = [](std::vector<int>& seen, int what) {
    const auto at = std::find(seen.begin(), seen.end(), what);
    if (at != seen.end()) return static_cast<int>(at - seen.begin());
    seen.push_back(what);
    return static_cast<int>(seen.size() - 1);
  };
  for (const auto& p : cpus) {
    found[p.cpu] = {place_in(nodes[p.package], p.numa),
                    place_in(cores[{p.numa, p.sibling}], p.cpu)};
  }
  return found;
}

}  // namespace

Pool::Pool(std::vector<platform::CpuSet> places) : places_(std::move(places)) {
  busy_ = threads() - 1;
  for (int i = 1; i < threads(); ++i) others_.emplace_back([this, i] { serve(i); });
  wait_for_others();
  if (misplaced_ == 0) return;
  end();
  throw std::runtime_error(std::to_string(misplaced_.load()) + " of " + std::to_string(threads()) +
                           " threads could not be bound to their cores");
}

Pool::~Pool() { end(); }

void Pool::end() {
  ending_ = true;
  turn_.fetch_add(1, std::memory_order_release);
  turn_.notify_all();
  others_.clear();
}

void Pool::serve(int thread) {
  const auto& place = places_[static_cast<std::size_t>(thread)];
  if (!platform::bind(place) || platform::allowed_cpus() != place) ++misplaced_;
  busy_.fetch_sub(1, std::memory_order_release);
  for (std::uint32_t seen = 0;;) {
    seen = turn_after(seen);
    if (ending_) return;
    call_(work_, thread);
    busy_.fetch_sub(1, std::memory_order_release);
  }
}

std::uint32_t Pool::turn_after(std::uint32_t seen) const {
  for (int i = 0; i < patience; ++i) {
    const auto now = turn_.load(std::memory_order_acquire);
    if (now != seen) return now;
    pause();
  }
  turn_.wait(seen, std::memory_order_acquire);
  return turn_.load(std::memory_order_acquire);
}

void Pool::wait_for_others() const {
  while (busy_.load(std::memory_order_acquire) != 0) pause();
}

std::vector<platform::CpuSet> thread_places(const std::string& order,
                                            const std::vector<platform::CpuPlace>& cpus) {
  const bool scattered = order == "scatter";
  if (!scattered && !order.empty() && order != "compact") return named(order, cpus);
  const auto at = ordinals(cpus);
  const auto key = [&](const platform::CpuPlace& p) {
    const Ordinal o = at.at(p.cpu);
    return scattered ? std::tuple(p.sibling, o.core, o.node, p.package, p.cpu)
                     : std::tuple(p.sibling, p.package, p.numa, p.core, p.cpu);
  };
  auto sorted = cpus;
  std::sort(sorted.begin(), sorted.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<platform::CpuSet> places;
  for (const auto& p : sorted) places.push_back({p.cpu});
  return places;
}

}  // namespace mpigauge::node

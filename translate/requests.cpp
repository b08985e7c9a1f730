// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "requests.hpp"

#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace mpigauge::translate {

constinit std::atomic<int> kept_things{0};

namespace {

struct Kept {
  void (*then)(void*);
  void* memory;
};
struct AllKept {
  std::mutex lock;
  std::unordered_multimap<Word, Kept> by_request;
};
// Never taken down: requests may end while the process does.
AllKept& all_kept() {
  static auto* const all = new AllKept;
  return *all;
}

std::vector<void*>& for_next() {
  thread_local std::vector<void*> memory;
  return memory;
}

}  // namespace

void keep_for_next(void* memory) { for_next().push_back(memory); }

void keep_with(Word request) {
  std::vector<void*>& memory = for_next();
  for (void* const each : memory) keep_with(request, nullptr, each);
  memory.clear();
}

void keep_with(Word request, void (*then)(void*), void* memory) {
  AllKept& all = all_kept();
  const std::scoped_lock guard(all.lock);
  all.by_request.insert({request, {then, memory}});
  kept_things.fetch_add(1, std::memory_order_relaxed);
}

void free_kept(Word request) {
  std::vector<Kept> done;
  AllKept& all = all_kept();
  {
    const std::scoped_lock guard(all.lock);
    const auto [from, to] = all.by_request.equal_range(request);
    for (auto each = from; each != to; ++each) done.push_back(each->second);
    all.by_request.erase(from, to);
  }
  kept_things.fetch_sub(static_cast<int>(done.size()), std::memory_order_relaxed);
  for (const Kept& each : done) {
    if (each.then != nullptr) each.then(each.memory);
    std::free(each.memory);
  }
}

}  // namespace mpigauge::translate

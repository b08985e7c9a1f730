// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/crew.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace mpigauge::node {

namespace {

std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + ' ' + thing + (count == 1 ? "" : "s");
}

// Ranks of a host that may all use the same cores begin at different ones, where there is room.
std::vector<platform::CpuSet> places_for(const Run& run) {
  const auto allowed = platform::allowed_cpus();
  const auto all = thread_places(run.options().thread_order, platform::cpu_places(allowed, ""));
  const auto wanted = static_cast<std::size_t>(run.threads());
  if (wanted > all.size()) {
    const std::string thing = all.size() == allowed.size() ? "core" : "place";  // of OMP_PLACES
    throw std::invalid_argument(counted(wanted, "thread") + " are more than the " +
                                counted(all.size(), thing) + " that this rank may use (" +
                                platform::format_cpuset(allowed) + ')');
  }
  const auto skip = static_cast<std::size_t>(platform::launcher_local_rank().value_or(0)) * wanted;
  const auto from = skip + wanted <= all.size() ? static_cast<std::ptrdiff_t>(skip) : 0;
  return {all.begin() + from, all.begin() + from + run.threads()};
}

// The threads of the last visit serve again where they stand on the same cores.
Pool* pool_on(const std::vector<platform::CpuSet>& places) {
  static std::unique_ptr<Pool> last;
  if (last == nullptr || last->places() != places) {
    last.reset();
    last = std::make_unique<Pool>(places);
  }
  return last.get();
}

Pool* pool_for(const Run& run) {
  if (run.threads() == 1 && run.options().thread_order.empty()) return nullptr;
  Pool* pool = nullptr;
  std::string why;
  try {
    pool = pool_on(places_for(run));
  } catch (const std::exception& error) {
    why = error.what();
  }
  agree(run, why.empty(), why);
  return pool;
}

}  // namespace

Crew::Crew(const Run& run)
    : pool_(pool_for(run)), bound_(pool_ == nullptr ? platform::CpuSet{} : pool_->places()[0]) {}

std::string Crew::words() const {
  if (pool_ == nullptr) return "";
  platform::CpuSet cores;
  for (const auto& place : pool_->places()) cores.insert(cores.end(), place.begin(), place.end());
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return counted(static_cast<std::size_t>(size()), "thread") + " on " +
         platform::format_cpuset(cores);
}

Passes::Passes(const Crew& crew, Stream what, const Arrays& arrays)
    : crew_(crew),
      arrays_(arrays),
      factor_(factor_of(what)),
      shares_(static_cast<std::size_t>(crew.size())) {
  for (int i = 0; i < crew.size(); ++i) {
    shares_[static_cast<std::size_t>(i)].part = part_of(arrays.n, i, crew.size());
  }
}

}  // namespace mpigauge::node

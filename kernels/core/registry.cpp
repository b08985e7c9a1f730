// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/registry.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

namespace mpigauge {

namespace {

std::vector<Benchmark>& registry() {
  static std::vector<Benchmark> all;
  return all;
}

bool before(const Benchmark& a, const Benchmark& b) {
  if (a.card.suite != b.card.suite) return a.card.suite < b.card.suite;
  if (a.card.place != b.card.place) return a.card.place < b.card.place;
  return a.card.name < b.card.name;
}

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

const std::vector<Benchmark>& benchmarks() { return registry(); }

const Benchmark* find_benchmark(std::string_view suite, std::string_view name) {
  for (const auto& b : registry()) {
    if (same_name(b.card.suite, suite) && same_name(b.card.name, name)) return &b;
  }
  return nullptr;
}

Add::Add(const Card& card, std::function<void(Run&)> function) {
  for (const auto& other : registry()) {
    if (same_name(other.card.name, card.name) && other.card.suite == card.suite) {
      std::fprintf(stderr, "mpigauge-kernel: two benchmarks are called %.*s/%.*s\n",
                   static_cast<int>(card.suite.size()), card.suite.data(),
                   static_cast<int>(card.name.size()), card.name.data());
      std::abort();
    }
  }
  Benchmark added{card, std::move(function)};
  const auto place = std::upper_bound(registry().begin(), registry().end(), added, before);
  registry().insert(place, std::move(added));
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/names.hpp"

namespace mpigauge {

namespace {

constexpr std::string_view first_suite = "MPI1";

}  // namespace

const Benchmark* find_benchmark(std::string_view name) {
  if (const auto colon = name.find(':'); colon != std::string_view::npos) {
    return find_benchmark(name.substr(0, colon), name.substr(colon + 1));
  }
  if (const auto* first = find_benchmark(first_suite, name)) return first;
  std::vector<const Benchmark*> alike, exact;
  for (const auto& b : benchmarks()) {
    if (same_name(b.card.name, name)) alike.push_back(&b);
    if (b.card.name == name) exact.push_back(&b);
  }
  if (alike.size() == 1) return alike.front();
  return exact.size() == 1 ? exact.front() : nullptr;
}

std::string why_not_found(const std::string& name) {
  std::string suites;
  for (const auto& b : benchmarks()) {
    if (!same_name(b.card.name, name)) continue;
    suites.append(suites.empty() ? "" : ", ").append(b.card.suite).append(":").append(b.card.name);
  }
  if (suites.empty()) return "no benchmark is called '" + name + "'";
  return "'" + name + "' can be " + suites;
}

}  // namespace mpigauge

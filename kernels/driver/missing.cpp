// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/missing.hpp"

#include <algorithm>
#include <vector>

#include "core/library.hpp"
#include "driver/options.hpp"

namespace mpigauge {

namespace {

bool library_has(std::string_view name) { return find_call(name) != nullptr; }

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const auto word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

}  // namespace

std::string missing_for_all(std::span<const Benchmark* const> benchmarks, HasCall has) {
  std::vector<std::string_view> missing;
  for (const Benchmark* benchmark : benchmarks) {
    const auto& needs = benchmark->card.needs;
    const auto* const found = std::find_if(needs.begin(), needs.end(), [&](std::string_view call) {
      return !call.empty() && !has(call);
    });
    if (found == needs.end()) return "";
    if (std::find(missing.begin(), missing.end(), *found) == missing.end()) {
      missing.push_back(*found);
    }
  }
  return joined(missing);
}

void refuse_if_none_can_run(std::span<const Benchmark* const> benchmarks) {
  const std::string missing = missing_for_all(benchmarks, library_has);
  if (missing.empty()) return;
  throw UsageError("none of the benchmarks can run: this MPI library, of MPI-" +
                   library_standard() + ", has no " + missing);
}

}  // namespace mpigauge

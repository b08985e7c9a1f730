// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/node/vectors.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace mpigauge::node {

namespace {

constexpr std::array<std::string_view, 3> widths{"baseline", "avx2", "avx512"};

// The system must keep the registers, too; the compiler's question asks for both.
bool has(std::string_view name) {
#if defined(__x86_64__)
  if (name == "avx2") {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }
  if (name == "avx512") return __builtin_cpu_supports("avx512f");
#endif
  return name == "generic" || name == "sse2" || name == "neon";
}

// What widths are not named by belongs to the first of them.
bool is_within(std::string_view name, std::string_view most) {
  const auto* at = std::find(widths.begin(), widths.end(), name);
  return at == widths.end() || at <= std::find(widths.begin(), widths.end(), most);
}

}  // namespace

std::vector<const Vectors*> vectors_up_to(std::string_view most) {
  const auto* const last =
      std::find(widths.begin(), widths.end(), most.empty() ? widths.back() : most);
  if (last == widths.end()) {
    throw std::invalid_argument("MPIGAUGE_ISA is '" + std::string(most) +
                                "', none of baseline, avx2, avx512");
  }
  std::vector<const Vectors*> all;
  for (const Vectors* each :
       {generic_vectors(), neon_vectors(), sse2_vectors(), avx2_vectors(), avx512_vectors()}) {
    if (each != nullptr && has(each->name) && is_within(each->name, *last)) all.push_back(each);
  }
  return all;
}

const std::vector<const Vectors*>& vectors() {
  static const std::vector<const Vectors*> all = [] {
    const char* most = std::getenv("MPIGAUGE_ISA");
    return vectors_up_to(most != nullptr ? most : "");
  }();
  return all;
}

const Vectors* vectors(std::string_view name) {
  const auto& all = vectors();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const Vectors* each) { return each->name == name; });
  return at == all.end() ? nullptr : *at;
}

std::string_view usual_among(const std::vector<const Vectors*>& all, bool of_intel) {
  for (const std::string_view name : {"avx512", "avx2", "sse2", "neon"}) {
    const bool passed_over = name == "avx512" && of_intel;
    for (const Vectors* each : all) {
      if (each->name == name && !passed_over) return name;
    }
  }
  return all.front()->name;
}

const Vectors& usual_vectors() {
#if defined(__x86_64__)
  const bool of_intel = static_cast<bool>(__builtin_cpu_is("intel"));
#else
  const bool of_intel = false;
#endif
  return *vectors(usual_among(vectors(), of_intel));
}

}  // namespace mpigauge::node

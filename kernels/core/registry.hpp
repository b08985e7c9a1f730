// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The registry: every benchmark adds itself from its own file. Suites are linked as an OBJECT
// library, since a static library would drop objects that nobody names.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/card.hpp"

namespace mpigauge {

class Run;

struct Benchmark {
  Card card;
  std::function<void(Run&)> function;
};

/// All benchmarks, ordered by suite, place in it, and name.
const std::vector<Benchmark>& benchmarks();

/// Benchmark of that name in one suite, in any spelling of upper and lower case; null where there
/// is none.
const Benchmark* find_benchmark(std::string_view suite, std::string_view name);

/// Adds a benchmark; ends the program when the suite has one of that name already.
struct Add {
  Add(const Card& card, std::function<void(Run&)> function);
};

bool same_name(std::string_view a, std::string_view b);

}  // namespace mpigauge

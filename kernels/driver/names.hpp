// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Benchmarks by the names that users give them.
#pragma once

#include <string>
#include <string_view>

#include "core/registry.hpp"

namespace mpigauge {

/// Benchmark of that name, SUITE:NAME or NAME, in any spelling of upper and lower case. A name that
/// several suites have is MPI1's, else that of the suite that spells it exactly so. Null where
/// there is none, or where the name alone does not tell which.
const Benchmark* find_benchmark(std::string_view name);
/// What to say where it is null.
std::string why_not_found(const std::string& name);

}  // namespace mpigauge

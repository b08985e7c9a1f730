// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What an old MPI library cannot do, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/benchmark.hpp"

namespace mpigauge {

/// Whether the opened library has a call.
using HasCall = bool (*)(std::string_view name);

/// The calls for want of which none of the benchmarks can run, each once, such as "MPI_Ibcast,
/// MPI_Ireduce"; empty when one of them can.
std::string missing_for_all(std::span<const Benchmark* const> benchmarks, HasCall has);

/// Throws UsageError when the opened library can run none of the benchmarks.
void refuse_if_none_can_run(std::span<const Benchmark* const> benchmarks);

}  // namespace mpigauge

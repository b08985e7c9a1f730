// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// One launch from the start of MPI to its end, the same for all programs.
#pragma once

#include <functional>
#include <string_view>

#include "driver/session.hpp"

namespace mpigauge {

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

/// The cores of a rank.
struct Binding {
  platform::CpuSet before;  ///< allowed by whoever started us
  platform::CpuSet wanted;  ///< empty: none
};

/// What all ranks do between the records that a launch begins and ends with.
using Measure = std::function<void(Session&)>;

/// Starts MPI at the thread level that the options need, measures, ends MPI; returns the exit
/// status. A UsageError of `measure`, thrown by all ranks, becomes one line of one rank; any other
/// exception ends the whole job.
int run_launch(std::string_view program, const Options& options, const Binding& binding,
               const Measure& measure);

}  // namespace mpigauge

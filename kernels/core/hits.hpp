// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Which samples detours have hit, as far as their times and what was found of the cores can tell.
#pragma once

#include "core/sampling.hpp"

namespace mpigauge {

/// Whether detours make the spread of a cell: without the samples that are longer by one, its error
/// is within `target`, and of these there are hardly more than detours as often as they were found
/// bring about.
bool spread_by_detours(const Cell& cell, const Rules& rules, double target);

}  // namespace mpigauge

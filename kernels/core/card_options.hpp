// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Which options a benchmark uses: known without running it, and part of what tells its cells apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/card.hpp"

namespace mpigauge {

/// Names of the options that this benchmark uses and that not all do.
std::vector<std::string_view> options_of(const Card& card);
/// What of them is not as usual and has no column of its own: name=value, with blanks between.
std::string unusual(const Card& card, const SuiteOptions& options);
/// Whether both are the same to this benchmark.
bool alike_to(const Card& card, const SuiteOptions& a, const SuiteOptions& b);

}  // namespace mpigauge

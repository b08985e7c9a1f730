// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Which settings a benchmark heeds: known without running it, and part of what tells its cells
// apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/card.hpp"
#include "core/settings.hpp"

namespace mpigauge {

/// Names of the options that this benchmark heeds and that not all do.
std::vector<std::string_view> heeded_by(const Card& card);
/// What of them is not as usual and has no column of its own: name=value, with blanks between.
std::string unusual(const Card& card, const Settings& settings);

}  // namespace mpigauge

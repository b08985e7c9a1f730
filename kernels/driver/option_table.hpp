// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The options as data. option_table.cpp, the fields and the words are made from
// schema/options.toml.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/option_fields.hpp"

namespace mpigauge {

struct OptionRow {
  std::string_view name;
  std::string_view help;
  std::function<void(OptionFields&, const std::string&)> set;  ///< throws UsageError
};
const std::vector<OptionRow>& option_table();

/// What only some benchmarks use, with each combination of values that are measured in turn.
std::vector<SuiteOptions> combinations_of(const OptionFields& options);

}  // namespace mpigauge

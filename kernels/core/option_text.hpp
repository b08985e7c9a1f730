// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Options that only some benchmarks use, as text: by it cells with unlike options are told apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/words.hpp"

namespace mpigauge {

struct SuiteOptions;

std::string option_text(bool value);
std::string option_text(int value);
std::string option_text(double value);
/// Of NAME=FILE the name.
std::string option_text(const std::string& value);
/// With an x between.
std::string option_text(const std::vector<int>& values);
std::string option_text(const std::vector<std::string>& values);
template <HasWords Value>
std::string option_text(Value value) {
  return std::string(word(value));
}
template <class Value>
std::string option_text(const std::optional<Value>& value) {
  return value ? option_text(*value) : "";
}

/// The text of one of them.
template <auto field>
std::string text_of(const SuiteOptions& options) {
  return option_text(options.*field);
}

/// What is known of one of them.
struct SuiteOptionRow {
  std::string_view name;
  std::string (*text)(const SuiteOptions&);
  bool has_column;  ///< a column of cells has its value
  bool by_all;      ///< every benchmark uses it
};

}  // namespace mpigauge

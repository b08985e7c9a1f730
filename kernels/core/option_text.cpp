// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/option_text.hpp"

#include <array>
#include <cstdio>

namespace mpigauge {

std::string option_text(bool value) { return value ? "1" : "0"; }

std::string option_text(int value) { return std::to_string(value); }

std::string option_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

std::string option_text(const std::string& value) { return value.substr(0, value.find('=')); }

std::string option_text(const std::vector<int>& values) {
  std::string text;
  for (const int value : values) text += (text.empty() ? "" : "x") + std::to_string(value);
  return text;
}

std::string option_text(const std::vector<std::string>& values) {
  std::string text;
  for (const auto& value : values) text.append(text.empty() ? "" : ",").append(value);
  return text;
}

}  // namespace mpigauge

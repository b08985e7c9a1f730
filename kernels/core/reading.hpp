// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Reads the numbers and the parts of a word that describes something to the kernels.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mpigauge {

/// Throws std::invalid_argument: why this text cannot be used.
[[noreturn]] inline void refuse(std::string_view text, const std::string& why) {
  throw std::invalid_argument("'" + std::string(text) + "' " + why);
}

/// A number from 0 to `most`. Throws std::invalid_argument.
template <class Number>
Number read_number(std::string_view text, Number most) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (!whole || !(value >= 0 && value <= most)) {
    refuse(text, "is not a number from 0 to " + std::to_string(static_cast<long long>(most)));
  }
  return value;
}

/// What is between these letters; one empty part of an empty text.
inline std::vector<std::string_view> parts_of(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (auto end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

}  // namespace mpigauge

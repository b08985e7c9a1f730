// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Values that are words: on the command line, in records and in tables alike.
#pragma once

#include <string_view>
#include <type_traits>

namespace mpigauge {

template <class Value>
struct Word {
  std::string_view text;
  Value value;
};

/// All words of an enumeration (an array of Word); specialised for those of schema/options.toml.
template <class Value>
inline constexpr auto option_words = nullptr;

template <class Value>
concept HasWords = !std::is_same_v<decltype(option_words<Value>), const std::nullptr_t>;

template <HasWords Value>
constexpr std::string_view word(Value value) {
  for (const auto& each : option_words<Value>) {
    if (each.value == value) return each.text;
  }
  return "";
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Texts of the command line to values: what a type of schema/options.toml means, and the readers
// that the schema names. All throw UsageError, which says what is wrong with the text.
#pragma once

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/words.hpp"
#include "driver/option_fields.hpp"
#include "driver/usage_error.hpp"

namespace mpigauge {

std::vector<std::string> split(std::string_view text, char at);

/// Numbers that make sense.
template <class Number>
struct Range {
  Number least, most;
};
template <class Number>
Number number(std::string_view text, Range<Number> range) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    throw UsageError("'" + std::string(text) + "' is not a number");
  }
  if (!(value >= range.least && value <= range.most)) {  // also what is not a number
    throw UsageError("'" + std::string(text) + "' is out of range");
  }
  return value;
}

/// The value for a word of a list.
template <class Value>
Value choice(std::string_view text, const auto& words) {
  std::string valid;
  for (const Word<Value>& each : words) {
    if (each.text == text) return each.value;
    valid.append(valid.empty() ? "" : ", ").append(each.text);
  }
  throw UsageError("'" + std::string(text) + "' is none of " + valid);
}

/// At least one word, and none that is empty.
std::vector<std::string> words_in(const std::string& text);
std::vector<std::string> benchmarks_of(const std::string& text);
std::string type_of(const std::string& name);
std::string op_of(const std::string& name);
std::string named_file(const std::string& text);
std::vector<std::string> compilers_of(const std::string& text);
std::vector<std::string> directories_of(const std::string& text);
std::vector<std::string> cells_by_clock(const std::string& text);
std::vector<platform::CpuSet> cpusets_of(const std::string& text);
std::vector<int> sides_of(std::string_view text);
std::vector<int> places_of(std::string_view text);
Grid grid_of(std::string_view text);
Pairing pairing_of(const std::string& text);
std::vector<Arrival> arrivals_of(const std::string& text);
Detours detours_of(const std::string& text);
Mix mix_of(const std::string& text);
std::vector<Arm> arms_of(const std::string& text);
std::vector<Memories> memories_of(const std::string& text);
std::vector<LeftOut> left_out_of(const std::string& text);

/// What kind of list it is, if any.
template <class Value>
struct Element {};
template <class Value>
struct Element<std::vector<Value>> {
  using Type = Value;
};

/// A value of its type, without or with a range, from given words, or by a reader.
template <class Value>
Value value_of(const std::string& text) {
  if constexpr (std::is_same_v<Value, bool>) return number<int>(text, {0, 1}) == 1;
  else if constexpr (HasWords<Value>) return choice<Value>(text, option_words<Value>);
  else if constexpr (requires { typename Element<Value>::Type; }) return words_in(text);
  else return text;
}
template <class Value, class Number>
Value value_of(const std::string& text, Range<Number> range) {
  if constexpr (std::is_same_v<Value, Number>) {
    return number<Number>(text, range);
  } else {
    if (text.empty()) return {number<Number>(text, range)};  // says that this is none
    Value values;
    for (const auto& part : split(text, ',')) values.push_back(number<Number>(part, range));
    return values;
  }
}
template <class Value, std::size_t n>
Value value_of(const std::string& text, const std::array<Word<Value>, n>& words) {
  return choice<Value>(text, words);
}
template <class Value, class Text>
Value value_of(const std::string& text, Value (*reader)(Text)) {
  return reader(text);
}

/// An option that may not be said.
template <class Value>
struct Said {
  using Type = Value;
};
template <class Value>
struct Said<std::optional<Value>> {
  using Type = Value;
};

/// A function that reads a text into a field.
template <class Value, class... How>
auto into(Value OptionFields::* field, How... how) {
  return [=](OptionFields& o, const std::string& text) {
    o.*field = value_of<typename Said<Value>::Type>(text, how...);
  };
}
template <class Value, class... How>
auto into(Value SuiteOptions::* field, How... how) {
  return [=](OptionFields& o, const std::string& text) {
    o.suite.*field = value_of<typename Said<Value>::Type>(text, how...);
  };
}
/// Into all values that are measured in turn, of which the first stands for them.
template <class Value, class... How>
auto into(std::vector<Value> OptionFields::* all, Value SuiteOptions::* first, How... how) {
  return [=](OptionFields& o, const std::string& text) {
    o.*all = value_of<std::vector<Value>>(text, how...);
    o.suite.*first = (o.*all).front();
  };
}

/// Each of them with each of the values, where there are some.
template <class Value>
void vary(std::vector<SuiteOptions>& all, Value SuiteOptions::* field,
          const std::vector<Value>& values) {
  std::vector<SuiteOptions> varied;
  for (const Value& value : values) {
    for (const SuiteOptions& one : all) varied.emplace_back(one).*field = value;
  }
  if (!varied.empty()) all = std::move(varied);
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How IMB's options are written, and tables of them. An option is `-name value`; a program has a
// table of rows, and what is in no row is the name of a benchmark.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/option_readers.hpp"
#include "driver/options.hpp"
#include "imb/program.hpp"

namespace mpigauge::imb {

/// A value as it was written. `lenient`: be content with what IMB is content with.
struct Value {
  std::string text;
  bool lenient = false;
};

// All throw UsageError, which says what is wrong with the value.

/// A whole number; lenient: what follows it is ignored.
std::int64_t integer(const Value& value, std::int64_t least, std::int64_t most);
/// A number; a `unit` behind it (as in 3gb) is allowed in any case.
double real(const Value& value, double least, double most, std::string_view unit = "");
/// on/yes/true/enable/1 or off/no/false/disable/0.
bool boolean(const Value& value);
/// A number of bytes with k, m or g (or K, M, G) behind it for powers of 1024.
std::size_t bytes(const Value& value);
/// Two whole numbers of at least 0 with an x between.
std::pair<int, int> grid(const Value& value);
/// The parts between commas.
std::vector<std::string> split(std::string_view text, char at);
/// One word of a list...
template <class Choice>
Choice choice(const Value& value, const std::vector<Word<Choice>>& words) {
  return mpigauge::choice<Choice>(value.text, words);
}
/// ...or of those that the kernels have for it.
template <HasWords Choice>
Choice choice(const Value& value) {
  return mpigauge::choice<Choice>(value.text, option_words<Choice>);
}
/// Lines of a text file without comments (#), surrounding blanks and carriage returns.
std::vector<std::string> lines_of(const std::string& path);

/// The candidate that a mistyped word is most like; empty where none is.
std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates);
/// " (did you mean X?)", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

/// One option of a program, which keeps its settings in a `Settings`.
template <class Settings>
struct OptionRow {
  std::string_view name;  ///< with its dash
  std::string_view form;  ///< of the value, for the help; empty: it takes none
  std::string_view help;
  std::function<void(Settings&, const Value&)> set;
};

/// Names of the options, for hints.
template <class Settings>
std::vector<std::string_view> names_of(const std::vector<OptionRow<Settings>>& table) {
  std::vector<std::string_view> names;
  for (const auto& row : table) names.push_back(row.name);
  return names;
}

bool same_option(std::string_view a, std::string_view b);
/// What all programs do alike before they look at their own options.
bool has_word(const Words& words, std::string_view name);
/// The option after -help (-h, --help), or empty; nothing where no help is wanted.
std::optional<std::string> wanted_help(const Words& words);

/// Reads words into settings; returns those that belong to no option: names of benchmarks.
/// Lenient: unknown options are such names, too.
template <class Settings>
Words read_words(const std::vector<OptionRow<Settings>>& table, const Words& words,
                 Settings& settings) {
  const bool lenient = has_word(words, "-lenient");
  Words bare;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const OptionRow<Settings>* row = nullptr;
    for (const auto& candidate : table) {
      if (same_option(candidate.name, word)) row = &candidate;
    }
    if (row == nullptr && word.starts_with('-') && !lenient) {
      throw UsageError("there is no option " + word + did_you_mean(word, names_of(table)));
    }
    if (row == nullptr) {
      bare.push_back(word);
      continue;
    }
    Value value{"", lenient};
    if (!row->form.empty()) {
      if (++i == words.size()) {
        throw UsageError(std::string(row->name) + " needs a value: " + std::string(row->form));
      }
      value.text = words[i];
    }
    try {
      row->set(settings, value);
    } catch (const UsageError& error) {
      throw UsageError(std::string(row->name) + ": " + error.what());
    }
  }
  return bare;
}

/// The help of a table; of one option where it is named (throws UsageError where that is none).
template <class Settings>
std::string options_text(const std::vector<OptionRow<Settings>>& table, std::string_view only) {
  constexpr std::size_t column = 34;
  std::string text;
  for (const auto& row : table) {
    if (!only.empty() && !same_option(row.name, only) && row.name.substr(1) != only) continue;
    std::string line = "  " + std::string(row.name) + ' ' + std::string(row.form);
    line.resize(std::max(line.size() + 1, column), ' ');
    text += line + std::string(row.help) + '\n';
  }
  if (text.empty()) {
    throw UsageError("there is no option " + std::string(only) +
                     did_you_mean(only, names_of(table)));
  }
  return text;
}

}  // namespace mpigauge::imb

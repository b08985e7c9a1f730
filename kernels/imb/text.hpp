// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The text of IMB's tables: fields of 13 characters, heads, rules, the parts of the header that
// all programs share. Made as strings; say() writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "imb/program.hpp"

namespace mpigauge::imb {

constexpr std::size_t field_width = 13;

/// A row of a table, or its head: fields aligned to the right.
class Line {
 public:
  Line& word(std::string_view text);
  Line& count(std::int64_t number);
  /// Microseconds, MB/s or per cent: two decimals.
  Line& value(double number);
  /// Messages per second: none.
  Line& rate(double number);
  [[nodiscard]] std::string text() const { return text_ + '\n'; }

 private:
  std::string text_;
};

/// The head of a table.
std::string head(const std::vector<std::string_view>& words);
/// A rule as wide as a table of so many columns.
std::string rule(std::size_t columns);
/// A rule of so many dashes.
std::string dashes(std::size_t count);

/// Three lines that say what program this is.
std::string banner(std::string_view title);
/// Date, machine, and what MPI says of itself. Calls MPI.
std::string system_lines();
/// The footer, from the two blank lines on.
std::string footer();

/// Writes to standard output, at once.
void say(const std::string& text);

}  // namespace mpigauge::imb

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/card_options.hpp"

#include <algorithm>

namespace mpigauge {

namespace {

// Those that the benchmark uses, in the order of the schema.
std::vector<SuiteOptionRow> rows_of(const Card& card) {
  std::vector<SuiteOptionRow> rows;
  for (std::size_t i = 0; i < suite_option_rows.size(); ++i) {
    const bool used = card.options.has(static_cast<SuiteOption>(i));
    if (used || suite_option_rows.at(i).by_all) rows.push_back(suite_option_rows.at(i));
  }
  return rows;
}

}  // namespace

std::vector<std::string_view> options_of(const Card& card) {
  std::vector<std::string_view> names;
  for (const auto& row : rows_of(card)) names.push_back(row.name);
  return names;
}

std::string unusual(const Card& card, const SuiteOptions& options) {
  std::string text;
  for (const auto& row : rows_of(card)) {
    const std::string value = row.text(options);
    if (row.has_column || value == row.text(usual_suite_options)) continue;
    text += (text.empty() ? "" : " ") + std::string(row.name) + '=' + value;
  }
  return text;
}

bool alike_to(const Card& card, const SuiteOptions& a, const SuiteOptions& b) {
  const auto rows = rows_of(card);
  return std::all_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return row.text(a) == row.text(b); });
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "record/pair_block.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace mpigauge {

namespace {

// Up to this share of the cells, those with another value than most are listed by their number.
constexpr std::size_t one_in = 4;

std::string most_frequent(const std::vector<std::string>& values) {
  std::map<std::string_view, std::size_t> counts;
  for (const auto& value : values) ++counts[value];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return std::string(most->first);
}

}  // namespace

void BlockColumns::add(std::string_view name, const std::vector<double>& values) {
  const auto is_same = [&](double value) {
    return value == values.front() || (std::isnan(value) && std::isnan(values.front()));
  };
  if (!packed_ || std::all_of(values.begin(), values.end(), is_same)) {
    std::vector<std::string> texts;
    texts.reserve(values.size());
    for (const double value : values) texts.push_back(json_text(value));
    return add_texts(name, texts);
  }
  std::vector<float> numbers;
  numbers.reserve(values.size());
  for (const double value : values) numbers.push_back(static_cast<float>(value));
  columns_.add(name, base64(numbers));
}

void BlockColumns::add_texts(std::string_view name, const std::vector<std::string>& values) {
  if (values.empty()) return;
  const std::string most = most_frequent(values);
  const auto others =
      values.size() - static_cast<std::size_t>(std::count(values.begin(), values.end(), most));
  if (others * one_in > values.size()) {
    columns_.add_json(name, json_list(values));
    return;
  }
  shared_.add_json(name, most);
  if (others == 0) return;
  Object exceptions;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != most) exceptions.add_json(std::to_string(i), values[i]);
  }
  columns_.add(name, exceptions);
}

}  // namespace mpigauge

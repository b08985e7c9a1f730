// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The columns of a block of pairs (the record `pairs` of schema/records.toml): what all of its
// cells share, and a value of each cell of everything else.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/json.hpp"

namespace mpigauge {

class BlockColumns {
 public:
  /// `packed`: times in which cells differ take four bytes each, not up to 14 digits.
  explicit BlockColumns(bool packed) : packed_(packed) {}

  /// A value of each cell, in the order of pairs.
  template <class Value>
  void add(std::string_view name, const std::vector<Value>& values) {
    std::vector<std::string> texts;
    texts.reserve(values.size());
    for (const auto& value : values) texts.push_back(json_text(value));
    add_texts(name, texts);
  }
  /// The same of a time or a ratio, which may be NaN.
  void add(std::string_view name, const std::vector<double>& values);
  /// A value that all cells have.
  template <class Value>
  void share(std::string_view name, const Value& value) {
    shared_.add(name, value);
  }

  [[nodiscard]] const Object& shared() const { return shared_; }
  [[nodiscard]] const Object& columns() const { return columns_; }

 private:
  void add_texts(std::string_view name, const std::vector<std::string>& values);

  bool packed_;
  Object shared_, columns_;
};

}  // namespace mpigauge

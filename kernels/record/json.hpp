// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// One record is one line of JSON; a line is written whole or not at all.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mpigauge {

/// Values as JSON; null for infinite values and NaN, which JSON has no words for.
std::string json_text(std::string_view text);
std::string json_text(double value);
std::string json_text(const std::vector<std::string_view>& words);
std::string json_text(std::integral auto value) { return std::to_string(value); }
/// A list of values that are JSON already.
std::string json_list(const std::vector<std::string>& values);

/// An object of JSON that grows by members.
class Object {
 public:
  Object& add(std::string_view name, std::string_view value);
  Object& add(std::string_view name, const char* value) {
    return add(name, std::string_view(value));
  }
  Object& add(std::string_view name, const std::string& value) {
    return add(name, std::string_view(value));
  }
  Object& add(std::string_view name, double value);
  Object& add(std::string_view name, bool value);
  Object& add(std::string_view name, std::integral auto value) {
    return add_json(name, json_text(value));
  }
  Object& add(std::string_view name, const std::vector<std::string_view>& words);
  Object& add(std::string_view name, const std::vector<std::uint64_t>& numbers);
  Object& add(std::string_view name, const Object& inner) { return add_json(name, inner.text()); }
  Object& add(std::string_view name, const std::vector<Object>& inner);
  /// Adds a value that is JSON already.
  Object& add_json(std::string_view name, std::string_view json);
  /// Adds the members of another object.
  Object& merge(const Object& other);
  [[nodiscard]] std::string text() const { return '{' + members_ + '}'; }
  [[nodiscard]] bool empty() const { return members_.empty(); }

 private:
  std::string members_;
};

/// A record of the given kind.
Object record(std::string_view kind);

/// Little-endian 32-bit words as base64.
std::string base64(std::span<const std::uint32_t> words);
std::string base64(std::span<const float> numbers);

/// Where lines go: a file that is appended to, or standard output ("-").
class Writer {
 public:
  Writer() = default;
  explicit Writer(const std::string& path);
  /// Keeps the lines, with a line feed between.
  explicit Writer(std::string& into) : into_(&into) {}
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  /// Throws std::runtime_error with the system's reason when the line cannot be written.
  void write(const std::string& line);
  void write(const Object& object) { write(object.text()); }
  /// How many records were written, without those that only tell how far a measurement is.
  [[nodiscard]] std::size_t records() const { return records_; }

 private:
  std::string path_;
  int file_ = -1;
  std::string* into_ = nullptr;
  std::size_t records_ = 0;
};

}  // namespace mpigauge

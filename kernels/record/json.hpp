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
  /// Null for infinite values and NaN, which JSON has no words for.
  Object& add(std::string_view name, double value);
  Object& add(std::string_view name, bool value);
  Object& add(std::string_view name, std::integral auto value) {
    return add_text(name, std::to_string(value));
  }
  Object& add(std::string_view name, const std::vector<std::string_view>& words);
  Object& add(std::string_view name, const std::vector<std::uint64_t>& numbers);
  Object& add(std::string_view name, const Object& inner) { return add_text(name, inner.text()); }
  Object& add(std::string_view name, const std::vector<Object>& inner);
  /// Adds the members of another object.
  Object& merge(const Object& other);
  [[nodiscard]] std::string text() const { return '{' + members_ + '}'; }

 private:
  Object& add_text(std::string_view name, std::string_view json);
  std::string members_;
};

/// A record of the given kind.
Object record(std::string_view kind);

/// Little-endian 32-bit words as base64.
std::string base64(std::span<const std::uint32_t> words);

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

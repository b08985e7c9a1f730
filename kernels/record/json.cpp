// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "record/json.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace mpigauge {

namespace {

[[noreturn]] void fail(const std::string& path) {
  throw std::runtime_error("cannot write " + (path == "-" ? "to standard output" : path) + ": " +
                           std::strerror(errno));
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(byte));
      out += code.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string json_text(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::general, 9);
  return {digits.data(), static_cast<std::size_t>(end.ptr - digits.data())};
}

std::string json_text(const std::vector<std::string_view>& words) {
  std::vector<std::string> texts;
  for (const auto word : words) texts.push_back(json_text(word));
  return json_list(texts);
}

std::string json_list(const std::vector<std::string>& values) {
  std::string list = "[";
  for (const auto& value : values) list += (list.size() > 1 ? "," : "") + value;
  return list + "]";
}

Object& Object::add_json(std::string_view name, std::string_view json) {
  if (!members_.empty()) members_ += ',';
  members_ += json_text(name);
  members_ += ':';
  members_ += json;
  return *this;
}

Object& Object::add(std::string_view name, std::string_view value) {
  return add_json(name, json_text(value));
}

Object& Object::add(std::string_view name, double value) {
  return add_json(name, json_text(value));
}

Object& Object::add(std::string_view name, bool value) {
  return add_json(name, value ? "true" : "false");
}

Object& Object::add(std::string_view name, const std::vector<std::string_view>& words) {
  return add_json(name, json_text(words));
}

Object& Object::add(std::string_view name, const std::vector<std::uint64_t>& numbers) {
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const auto number : numbers) texts.push_back(json_text(number));
  return add_json(name, json_list(texts));
}

Object& Object::add(std::string_view name, const std::vector<Object>& inner) {
  std::vector<std::string> texts;
  for (const auto& object : inner) texts.push_back(object.text());
  return add_json(name, json_list(texts));
}

Object& Object::merge(const Object& other) {
  if (!members_.empty() && !other.members_.empty()) members_ += ',';
  members_ += other.members_;
  return *this;
}

Object record(std::string_view kind) {
  Object made;
  made.add("record", kind);
  return made;
}

std::string base64(std::span<const std::uint32_t> words) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(words.size() * 16 / 3 + 4);
  std::uint32_t bits = 0;
  int held = 0;
  const auto flush = [&](int least) {
    while (held >= least && held > 0) {
      const auto index = held >= 6 ? bits >> static_cast<unsigned>(held - 6)
                                   : bits << static_cast<unsigned>(6 - held);
      text += digits[index & 63U];
      held -= std::min(held, 6);
      bits &= (1U << static_cast<unsigned>(held)) - 1U;
    }
  };
  for (const std::uint32_t word : words) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      bits = bits << 8U | (word >> (8U * byte) & 0xFFU);
      held += 8;
      flush(6);
    }
  }
  flush(1);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string base64(std::span<const float> numbers) {
  std::vector<std::uint32_t> words;
  words.reserve(numbers.size());
  for (const float number : numbers) words.push_back(std::bit_cast<std::uint32_t>(number));
  return base64(words);
}

namespace {

// A text may be several lines: those that another rank has kept for us.
std::size_t records_in(std::string_view lines) {
  std::size_t found = 0;
  while (true) {
    if (!lines.starts_with(R"({"record":"progress")")) ++found;
    const auto end = lines.find('\n');
    if (end == std::string_view::npos) return found;
    lines.remove_prefix(end + 1);
  }
}

}  // namespace

Writer::Writer(const std::string& path) : path_(path) {
  constexpr int readable_by_all = 0644;
  file_ = path == "-"
              ? STDOUT_FILENO
              : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, readable_by_all);
  if (file_ < 0) fail(path_);
}

Writer::~Writer() {
  if (file_ > STDERR_FILENO) close(file_);
}

void Writer::write(const std::string& line) {
  records_ += records_in(line);
  if (into_ != nullptr) {
    *into_ += (into_->empty() ? "" : "\n") + line;
    return;
  }
  const std::string whole = line + '\n';
  for (std::size_t done = 0; done < whole.size();) {
    const auto written = ::write(file_, whole.data() + done, whole.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_);
    done += static_cast<std::size_t>(written);
  }
}

}  // namespace mpigauge

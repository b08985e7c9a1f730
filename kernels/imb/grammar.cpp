// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "imb/grammar.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <limits>
#include <numeric>

#include "core/registry.hpp"

namespace mpigauge::imb {

namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw UsageError("'" + text + "' " + why);
}

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return made;
}

template <class Number>
Number leading_number(const std::string& text, std::string_view& rest) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc::result_out_of_range) refuse(text, "is too large");
  if (read.ec != std::errc()) refuse(text, "is not a number");
  rest = std::string_view(read.ptr, static_cast<std::size_t>(end - read.ptr));
  return number;
}

template <class Number>
void check_range(const std::string& text, Number number, Number least, Number most) {
  if (number >= least && number <= most) return;  // so that not-a-number is out of range, too
  const auto word = [](Number n) {
    std::string made = std::to_string(n);
    if (made.find('.') != std::string::npos) made.erase(made.find_last_not_of(".0") + 1);
    return made.empty() ? std::string("0") : made;
  };
  if (number < least) refuse(text, "is out of range: at least " + word(least));
  refuse(text, "is out of range: at most " + word(most));
}

// Of how many single letters two words differ.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, change});
    }
  }
  return row.back();
}

std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

}  // namespace

std::int64_t integer(const Value& value, std::int64_t least, std::int64_t most) {
  std::string_view rest;
  const auto number = leading_number<std::int64_t>(value.text, rest);
  if (!rest.empty() && !value.lenient) refuse(value.text, "is not a whole number");
  check_range(value.text, number, least, most);
  return number;
}

double real(const Value& value, double least, double most, std::string_view unit) {
  std::string_view rest;
  const auto number = leading_number<double>(value.text, rest);
  const std::string_view most_unit = unit.substr(0, rest.size());
  const bool known = !rest.empty() && rest.size() <= unit.size() && same_name(rest, most_unit);
  if (!rest.empty() && !known && !value.lenient) refuse(value.text, "is not a number");
  check_range(value.text, number, least, most);
  return number;
}

bool boolean(const Value& value) {
  const std::string text = lower(value.text);
  for (const char* yes : {"on", "yes", "true", "enable", "1"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"off", "no", "false", "disable", "0"}) {
    if (text == no) return false;
  }
  refuse(value.text, "is neither on nor off");
}

std::size_t bytes(const Value& value) {
  std::string_view rest;
  const auto number = leading_number<std::int64_t>(value.text, rest);
  const std::string suffix = lower(rest);
  unsigned shift = 0;
  if (suffix == "k") shift = 10;
  else if (suffix == "m") shift = 20;
  else if (suffix == "g") shift = 30;
  else if (!suffix.empty() && !value.lenient) refuse(value.text, "is not a number of bytes");
  constexpr std::int64_t most = std::int64_t{1} << 47U;
  check_range(value.text, number, std::int64_t{0}, most >> shift);
  return static_cast<std::size_t>(number) << shift;
}

std::pair<int, int> grid(const Value& value) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const auto sides = split(value.text, 'x');
  if (sides.size() != 2) refuse(value.text, "is not of the form PxQ");
  const auto side = [&](const std::string& text) {
    return static_cast<int>(integer({text, value.lenient}, 0, most));
  };
  return {side(sides[0]), side(sides[1])};
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (auto end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("cannot read the file '" + path + "'");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    line.resize(std::min(line.find('#'), line.size()));
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) continue;
    lines.push_back(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
  }
  return lines;
}

std::string nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string wanted = lower(without_dashes(word));
  std::string best;
  std::size_t least = std::max<std::size_t>(wanted.size() / 3, 1) + 1;
  for (const auto candidate : candidates) {
    const std::size_t off = distance(wanted, lower(without_dashes(candidate)));
    if (off < least) {
      least = off;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates) {
  const std::string like = nearest(word, candidates);
  return like.empty() ? "" : " (did you mean " + like + "?)";
}

bool same_option(std::string_view a, std::string_view b) { return same_name(a, b); }

bool has_word(const Words& words, std::string_view name) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return same_option(word, name); });
}

std::optional<std::string> wanted_help(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const char* name : {"-help", "--help", "-h"}) {
      if (same_option(words[i], name)) return i + 1 < words.size() ? words[i + 1] : "";
    }
  }
  return std::nullopt;
}

}  // namespace mpigauge::imb

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "driver/option_readers.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/types.hpp"
#include "driver/names.hpp"

namespace mpigauge {

namespace {

// What another part of the kernels reads.
template <class Value>
Value understood(Value (*read)(const std::string&), const std::string& text) {
  try {
    return read(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

int positive(std::string_view text) {
  return number<int>(text, {1, std::numeric_limits<int>::max()});
}

}  // namespace

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (auto end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

std::vector<std::string> words_in(const std::string& text) {
  auto words = split(text, ',');
  const bool empty = std::find(words.begin(), words.end(), "") != words.end();
  if (words.empty() || empty) throw UsageError("a word is missing in '" + text + "'");
  return words;
}

std::vector<std::string> benchmarks_of(const std::string& text) {
  auto names = split(text, ',');
  for (const auto& name : names) {
    if (find_benchmark(name) == nullptr) throw UsageError(why_not_found(name));
  }
  return names;
}

std::string type_of(const std::string& name) {
  if (!name.empty() && find_type(name) == nullptr) {
    throw UsageError("no data type is called '" + name + "'");
  }
  return name;
}

std::string op_of(const std::string& name) {
  if (find_op(name) == nullptr) throw UsageError("no operation is called '" + name + "'");
  return name;
}

std::string named_file(const std::string& text) {
  const auto at = text.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == text.size()) {
    throw UsageError("'" + text + "' is not of the form NAME=FILE");
  }
  return text;
}

std::vector<std::string> compilers_of(const std::string& text) {
  auto compilers = words_in(text);
  for (auto& each : compilers) each = each == "ours" ? "" : named_file(each);
  return compilers;
}

std::vector<std::string> directories_of(const std::string& text) {
  auto names = split(text, ',');
  if (names.empty()) throw UsageError("no directory is named");
  for (const auto& name : names) {
    if (name.empty()) throw UsageError("a directory has no name in '" + text + "'");
    if (std::count(names.begin(), names.end(), name) > 1) {
      throw UsageError("directory '" + name + "' is named twice");
    }
  }
  return names;
}

std::vector<std::string> cells_by_clock(const std::string& text) {
  return text == "none" ? std::vector<std::string>() : words_in(text);
}

std::vector<platform::CpuSet> cpusets_of(const std::string& text) {
  std::vector<platform::CpuSet> sets;
  for (auto& entry : split(text, ',')) {
    std::replace(entry.begin(), entry.end(), '+', ',');
    const auto cpus = platform::parse_cpuset(entry);
    if (!cpus || cpus->empty()) throw UsageError("'" + entry + "' is not a list of cores");
    sets.push_back(*cpus);
  }
  return sets;
}

std::vector<int> sides_of(std::string_view text) {
  std::vector<int> sides;
  for (const auto& side : split(text, 'x')) sides.push_back(positive(side));
  return sides;
}

// Numbers from 0 on, each once.
std::vector<int> places_of(std::string_view text) {
  std::vector<int> places;
  for (const auto& place : split(text, ',')) {
    int number = -1;
    const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), number);
    places.push_back(error == std::errc() && end == place.data() + place.size() ? number : -1);
  }
  auto sorted = places;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] == static_cast<int>(i)) continue;
    throw UsageError("'" + std::string(text) + "' does not name each place from 0 on once");
  }
  return places;
}

Grid grid_of(std::string_view text) {
  const auto sides = split(text, 'x');
  if (sides.size() != 2) throw UsageError("'" + std::string(text) + "' is not of the form PxQ");
  return {positive(sides[0]), positive(sides[1])};
}

Pairing pairing_of(const std::string& text) { return understood(parse_pairing, text); }

std::vector<Arrival> arrivals_of(const std::string& text) {
  std::vector<Arrival> arrivals;
  for (const auto& word : words_in(text)) arrivals.push_back(understood(Arrival::read, word));
  return arrivals;
}

Detours detours_of(const std::string& text) { return understood(Detours::read, text); }

Mix mix_of(const std::string& text) { return understood(Mix::read, text); }

std::vector<Arm> arms_of(const std::string& text) { return understood(read_arms, text); }

std::vector<Memories> memories_of(const std::string& text) {
  std::vector<Memories> all;
  for (const auto& word : words_in(text)) all.push_back(understood(parse_memories, word));
  return all;
}

std::vector<LeftOut> left_out_of(const std::string& text) {
  std::vector<LeftOut> all;
  for (const auto& entry : split(text, '|')) {
    const auto parts = split(entry, '~');
    if (parts.size() != 3 || parts[2].empty()) {
      throw UsageError("'" + entry + "' is not of the form BENCHMARK~MEMORY~REASON");
    }
    all.push_back({.benchmark = benchmarks_of(parts[0]).front(),
                   .memories = understood(parse_memories, parts[1]),
                   .reason = parts[2]});
  }
  return all;
}

}  // namespace mpigauge

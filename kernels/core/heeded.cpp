// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/heeded.hpp"

#include <array>
#include <cstdio>

namespace mpigauge {

namespace {

std::string grid(const std::vector<int>& sides) {
  std::string text;
  for (const int side : sides) text += (text.empty() ? "" : "x") + std::to_string(side);
  return text;
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

std::string_view word(ThreadMemory memory) {
  switch (memory) {
    case ThreadMemory::serial: return "serial";
    case ThreadMemory::continuous: return "continuous";
    case ThreadMemory::parallel: break;
  }
  return "parallel";
}

std::string_view word(IoCache cache) {
  switch (cache) {
    case IoCache::drop: return "drop";
    case IoCache::direct: return "direct";
    case IoCache::keep: break;
  }
  return "keep";
}

// Of NAME=FILE.
std::string name_of(const std::string& text) { return text.substr(0, text.find('=')); }

struct Row {
  std::string_view name;
  bool (*heeded)(const Card&);
  std::string (*value)(const Settings&);  ///< null: it has a column of its own
};

using S = const Settings&;
constexpr std::array table{
    Row{"layout", [](const Card& c) { return c.suite == "MPI1" && c.unit != Unit::none; }, nullptr},
    Row{"dir", [](const Card& c) { return c.on_files; }, nullptr},
    Row{"io-cache", [](const Card& c) { return c.on_files; },
        [](S s) { return std::string(word(s.io_cache)); }},
    Row{"threads", [](const Card& c) { return c.threaded || c.pooled; }, nullptr},
    Row{"thread-order", [](const Card& c) { return c.pooled; }, [](S s) { return s.thread_order; }},
    Row{"memory-on", [](const Card& c) { return c.placed; }, [](S s) { return s.memory_on; }},
    Row{"thread-level", [](const Card&) { return true; }, nullptr},
    Row{"thread-memory", [](const Card& c) { return c.threaded; },
        [](S s) { return std::string(word(s.thread_memory)); }},
    Row{"stride", [](const Card& c) { return c.threaded && c.ranks != Ranks::any; },
        [](S s) { return std::to_string(s.stride); }},
    Row{"touch-send", [](const Card& c) { return c.suite == "P2P"; },
        [](S s) { return std::to_string(static_cast<int>(s.touch_send)); }},
    Row{"touch-recv", [](const Card& c) { return c.suite == "P2P"; },
        [](S s) { return std::to_string(static_cast<int>(s.touch_recv)); }},
    Row{"topo", [](const Card& c) { return c.suite == "HALO"; }, [](S s) { return grid(s.topo); }},
    Row{"partitions", [](const Card& c) { return c.partitioned; },
        [](S s) { return std::to_string(s.partitions); }},
    Row{"blas", [](const Card& c) { return c.busy != nullptr; },
        [](S s) { return name_of(s.blas); }},
    Row{"compiler", [](const Card& c) { return c.compiled; },
        [](S s) { return name_of(s.compiler); }},
    Row{"test-every", [](const Card& c) { return c.columns == Columns::overlap; },
        [](S s) { return number(s.test_every_us); }},
};

}  // namespace

std::vector<std::string_view> heeded_by(const Card& card) {
  std::vector<std::string_view> names;
  for (const auto& row : table) {
    if (row.heeded(card)) names.push_back(row.name);
  }
  return names;
}

std::string unusual(const Card& card, const Settings& settings) {
  std::string text;
  for (const auto& row : table) {
    if (row.value == nullptr || !row.heeded(card)) continue;
    const std::string value = row.value(settings);
    if (value == row.value(default_settings)) continue;
    text += (text.empty() ? "" : " ") + std::string(row.name) + '=' + value;
  }
  return text;
}

}  // namespace mpigauge

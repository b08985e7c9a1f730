// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/memory_kinds.hpp"

#include <algorithm>
#include <stdexcept>

namespace mpigauge {

namespace {

Memory parse_memory(std::string_view text) {
  const auto* const at = std::find(memory_words.begin(), memory_words.end(), text);
  if (at == memory_words.end()) {
    throw std::invalid_argument("'" + std::string(text) +
                                "' is not host, pinned, device or managed");
  }
  return static_cast<Memory>(at - memory_words.begin());
}

}  // namespace

std::string Memories::name() const {
  const std::string own(word(first));
  return differ() ? own + '>' + std::string(word(others)) : own;
}

Memories parse_memories(const std::string& text) {
  const auto colon = text.find(':');
  const Memory first = parse_memory(std::string_view(text).substr(0, colon));
  if (colon == std::string::npos) return {first, first};
  return {first, parse_memory(std::string_view(text).substr(colon + 1))};
}

}  // namespace mpigauge

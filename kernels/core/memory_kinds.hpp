// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The kinds of memory that buffers of messages can be in.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mpigauge {

enum class Memory { host, pinned, device, managed };
inline constexpr std::size_t memory_kinds = 4;
inline constexpr std::array<std::string_view, memory_kinds> memory_words{"host", "pinned", "device",
                                                                         "managed"};
constexpr std::string_view word(Memory memory) {
  return memory_words.at(static_cast<std::size_t>(memory));
}
/// Whether only copies reach it: the CPU cannot touch it, or would move it by that.
constexpr bool is_on_gpu(Memory memory) {
  return memory == Memory::device || memory == Memory::managed;
}

/// The memory of rank 0 of a group, and of its other ranks.
struct Memories {
  Memory first = Memory::host;
  Memory others = Memory::host;

  [[nodiscard]] constexpr Memory of_rank(int rank) const { return rank == 0 ? first : others; }
  [[nodiscard]] constexpr bool differ() const { return first != others; }
  /// Whether any of it is managed by the driver of a GPU.
  [[nodiscard]] constexpr bool needs_driver() const {
    return first != Memory::host || others != Memory::host;
  }
  [[nodiscard]] constexpr bool on_gpu() const { return is_on_gpu(first) || is_on_gpu(others); }
  constexpr bool operator==(const Memories&) const = default;
  /// The value of the column `memory`: device, or device>host.
  [[nodiscard]] std::string name() const;
};

/// Reads device, or device:host. Throws std::invalid_argument.
Memories parse_memories(const std::string& text);

/// A benchmark that is not measured in a memory.
struct LeftOut {
  std::string benchmark;
  Memories memories;
  std::string reason;
};

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A table from words to words that many threads read without a lock while one writes. It grows into
// a new table; the old one stays, as somebody may still read it. The place of a word that was
// removed is given to another: nobody may be looking for a word while it is removed.
#pragma once

#include <atomic>
#include <cstdint>

#include "storage.hpp"

namespace mpigauge::profile {

inline std::uint64_t mixed(std::uint64_t key) {
  key *= 0x9e3779b97f4a7c15U;
  return key ^ (key >> 32U);
}

class WordMap {
 public:
  /// What was put there; 0 when that is nothing.
  [[nodiscard]] std::uint64_t find(std::uint64_t key) const {
    const Table* const table = table_.load(std::memory_order_acquire);
    if (table == nullptr) return 0;
    for (std::size_t at = mixed(key) & table->mask;; at = (at + 1) & table->mask) {
      const std::uint64_t there = table->slots[at].key.load(std::memory_order_acquire);
      if (there == key) return table->slots[at].value.load(std::memory_order_acquire);
      if (there == 0) return 0;
    }
  }

  /// Only by whoever holds the lock of the process. Keys are not 0; a value of 0 removes. False
  /// when there is no memory.
  bool put(std::uint64_t key, std::uint64_t value) {
    if (!make_room()) return false;
    place(*table_.load(std::memory_order_relaxed), key, value);
    return true;
  }

  /// Forgets everything; by whoever holds the lock.
  void clear() {
    Table* const table = table_.load(std::memory_order_relaxed);
    for (std::size_t at = 0; table != nullptr && at <= table->mask; ++at) {
      table->slots[at].value.store(0, std::memory_order_relaxed);
    }
  }

 private:
  struct Slot {
    std::atomic<std::uint64_t> key, value;
  };
  struct Table {
    std::size_t mask, used;
    Slot slots[1];
  };
  static constexpr std::size_t first_size = 256;

  // Where the key is, or will be: in a place that was left, else in one that was never used.
  static Slot& slot_for(Table& table, std::uint64_t key) {
    Slot* left = nullptr;
    for (std::size_t at = mixed(key) & table.mask;; at = (at + 1) & table.mask) {
      Slot& slot = table.slots[at];
      const std::uint64_t there = slot.key.load(std::memory_order_relaxed);
      if (there == key) return slot;
      if (there == 0) {
        if (left != nullptr) return *left;
        ++table.used;
        return slot;
      }
      if (left == nullptr && slot.value.load(std::memory_order_relaxed) == 0) left = &slot;
    }
  }

  // Whoever finds the new key in a place that was left finds nothing there, or the new value.
  static void place(Table& table, std::uint64_t key, std::uint64_t value) {
    Slot& slot = slot_for(table, key);
    const bool is_new = slot.key.load(std::memory_order_relaxed) == 0;
    if (is_new) slot.value.store(value, std::memory_order_relaxed);
    slot.key.store(key, std::memory_order_release);
    if (!is_new) slot.value.store(value, std::memory_order_release);
  }

  // At most half full, so that searches are short. What was removed is left behind.
  bool make_room() {
    const Table* const old = table_.load(std::memory_order_relaxed);
    if (old != nullptr && old->used * 2 <= old->mask) return true;
    const std::size_t size = old == nullptr ? first_size : (old->mask + 1) * 2;
    auto* const made = own<Table>(1, size * sizeof(Slot));
    if (made == nullptr) return false;
    made->mask = size - 1;
    for (std::size_t at = 0; old != nullptr && at <= old->mask; ++at) {
      const std::uint64_t value = old->slots[at].value.load(std::memory_order_relaxed);
      if (value != 0) place(*made, old->slots[at].key.load(std::memory_order_relaxed), value);
    }
    table_.store(made, std::memory_order_release);
    return true;
  }

  std::atomic<Table*> table_{nullptr};
};

}  // namespace mpigauge::profile

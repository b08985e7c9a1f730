// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Numbers for pointers: a program of MPICH's ABI has integers for handles, where the target has
// pointers. A slot keeps one; its number is part of the handle.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "abi.hpp"

namespace mpigauge::translate {

/// A lock for a few instructions. It is held so shortly that nobody has to sleep.
class SpinLock {
 public:
  void lock() {
    while (taken_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_{};
};

/// Slots for one kind of handles. What is in a slot is read without a lock.
class Slots {
 public:
  using Number = std::uint32_t;
  static constexpr Number first = 16;  // MPICH has predefined types below this number
  static constexpr Number in_chunk = 4096, most_chunks = 16384;

  [[nodiscard]] Word at(Number number) const {
    if (number / in_chunk >= most_chunks) return 0;
    const Word* const chunk = chunks_[number / in_chunk].load(std::memory_order_relaxed);
    return chunk == nullptr ? 0 : chunk[number % in_chunk];
  }
  void set(Number number, Word word) {
    chunks_[number / in_chunk].load(std::memory_order_relaxed)[number % in_chunk] = word;
  }

  /// Numbers that nobody has, several at once.
  void take(Number* numbers, std::size_t count) {
    const std::scoped_lock guard(lock_);
    for (std::size_t n = 0; n < count; ++n) numbers[n] = take_one();
  }
  void give_back(const Number* numbers, std::size_t count) {
    const std::scoped_lock guard(lock_);
    for (std::size_t n = 0; n < count; ++n) {
      set(numbers[n], free_);
      free_ = numbers[n];
    }
  }

 private:
  Number take_one() {
    if (free_ != 0) {
      const Number number = free_;
      free_ = static_cast<Number>(at(number));
      return number;
    }
    const Number number = first + given_++;
    std::atomic<Word*>& chunk = chunks_[number / in_chunk];
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
      chunk.store(new Word[in_chunk]{}, std::memory_order_release);
    }
    return number;
  }

  // All of it begins as zero, so that the table takes no room in the library's file.
  SpinLock lock_;
  Number free_ = 0, given_ = 0;
  std::array<std::atomic<Word*>, most_chunks> chunks_{};
};

/// Slots whose pointers come back: the same pointer has the same number, until it was freed as
/// often as it was made.
class SharedSlots {
 public:
  using Number = Slots::Number;

  [[nodiscard]] Word at(Number number) const { return slots_.at(number); }

  /// The number of a handle that the program has now, and will free.
  Number made(Word word) { return number_of(word, 1); }
  /// The number of a handle that it only sees.
  Number seen(Word word) { return number_of(word, 0); }
  void freed(Number number) {
    const std::scoped_lock guard(lock_);
    if (numbers_ == nullptr) return;
    const auto found = numbers_->find(slots_.at(number));
    if (found == numbers_->end() || --found->second.uses > 0) return;
    numbers_->erase(found);
    slots_.give_back(&number, 1);
  }

 private:
  struct Entry {
    Number number = 0;
    int uses = 0;
  };

  Number number_of(Word word, int more) {
    const std::scoped_lock guard(lock_);
    if (numbers_ == nullptr) numbers_ = new std::unordered_map<Word, Entry>;
    Entry& entry = (*numbers_)[word];
    entry.uses += more;
    if (entry.number == 0) {
      slots_.take(&entry.number, 1);
      slots_.set(entry.number, word);
    }
    return entry.number;
  }

  Slots slots_;
  std::mutex lock_;
  // Made when it is needed and never taken down: MPI may be called while the process ends.
  std::unordered_map<Word, Entry>* numbers_ = nullptr;
};

}  // namespace mpigauge::translate

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Where tables live: in the file of the process, whose space is reserved before it is used, so that
// a full disk is seen here and nowhere else; and what need not be kept, in memory of our own (the
// program may replace malloc, and may be inside of it when it calls MPI).
#pragma once

#include <cstddef>

#include "layout.hpp"

namespace mpigauge::profile {

class Storage {
 public:
  /// Makes the file; false, with a reason in errno, when that cannot be.
  bool open(const char* path, std::size_t limit);
  [[nodiscard]] layout::Head& head() const { return *head_; }

  /// A block with `bytes` bytes, zero but for its size; null when there is no room. It is read from
  /// publish() on.
  layout::Block* block(std::size_t bytes);
  static void publish(layout::Block& block, layout::Kind kind);

  template <class Table>
  Table* make(std::size_t more = 0) {
    return reinterpret_cast<Table*>(block(sizeof(Table) + more));
  }

 private:
  bool grow(std::size_t bytes);

  int file_ = -1;
  std::size_t limit_ = 0, size_ = 0;
  std::byte *next_ = nullptr, *end_ = nullptr;
  layout::Head* head_ = nullptr;
};

/// Zeroed memory that is never given back; null when there is none.
void* own_memory(std::size_t bytes);

template <class Value>
Value* own(std::size_t count = 1, std::size_t more = 0) {
  return static_cast<Value*>(own_memory((count * sizeof(Value)) + more));
}

}  // namespace mpigauge::profile

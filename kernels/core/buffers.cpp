// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "core/buffers.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "platform/platform.hpp"

namespace mpigauge {

namespace {

class MappedArena : public Arena {
 public:
  explicit MappedArena(std::size_t bytes) : mapping_(bytes) {}
  [[nodiscard]] Location location() const override { return {mapping_.data(), mapping_.data()}; }

 private:
  platform::Mapping mapping_;
};

class MpiArena : public Arena {
 public:
  explicit MpiArena(std::size_t bytes) {
    const int code = MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &data_);
    if (code != MPI_SUCCESS || data_ == nullptr) throw std::bad_alloc();
  }
  ~MpiArena() override { MPI_Free_mem(data_); }
  MpiArena(const MpiArena&) = delete;
  MpiArena& operator=(const MpiArena&) = delete;
  [[nodiscard]] Location location() const override {
    return {static_cast<std::byte*>(data_), static_cast<std::byte*>(data_)};
  }

 private:
  void* data_ = nullptr;
};

// A part of memory that belongs to somebody else.
class LentArena : public Arena {
 public:
  explicit LentArena(std::byte* at) : at_(at) {}
  [[nodiscard]] Location location() const override { return {at_, at_}; }

 private:
  std::byte* at_;
};

void fill_with(const Contents& contents, std::span<std::byte> to) {
  if (contents.op.empty()) return fill_bytes(contents.rank, 0, to);
  const DataType& type = *contents.type;
  type.fill(contents.op, contents.rank, 0, to.data(), to.size() / type.bytes);
}

// So short that memcpy neither goes around the caches nor takes string instructions.
constexpr std::size_t piece = 1024;
constexpr std::size_t periods_of_bytes = 16;

}  // namespace

Pattern::Pattern(const Contents& contents)
    : element_(contents.op.empty() ? 1 : contents.type->bytes),
      period_(contents.op.empty() ? periods_of_bytes * byte_period : pattern_period * element_),
      values_((period_ + piece + element_ - 1) / element_ * element_) {
  fill_with(contents, values_);
}

void Pattern::write(std::size_t first, std::span<std::byte> to) const {
  std::size_t at = first * element_ % period_;
  while (!to.empty()) {
    const std::size_t bytes = std::min(piece, to.size());
    std::memcpy(to.data(), values_.data() + at, bytes);
    to = to.subspan(bytes);
    at = (at + bytes) % period_;
  }
}

std::unique_ptr<Arena> mapped_arena(std::size_t bytes) {
  return std::make_unique<MappedArena>(bytes);
}

std::unique_ptr<Arena> mpi_arena(std::size_t bytes) { return std::make_unique<MpiArena>(bytes); }

bool Buffers::hold(Held& held, std::size_t bytes) {
  const std::size_t needed = std::max<std::size_t>(bytes, 64);
  if (held.bytes >= needed) return false;
  held.arena.reset();
  held.bytes = 0;
  held.arena = make_(needed);
  held.bytes = needed;
  return true;
}

Arena& Buffers::send(const Contents& contents, std::size_t total) {
  Held& held = send_[contents];
  if (hold(held, total)) {
    fill_with(contents, {held.arena->location().mirror, held.bytes});
    held.arena->push(held.bytes);
  }
  return *held.arena;
}

const Pattern& Buffers::pattern(const Contents& contents) {
  return patterns_.try_emplace(contents, contents).first->second;
}

Arena& Buffers::recv(std::size_t total) {
  if (hold(recv_, total)) {
    std::memset(recv_.arena->location().mirror, std::to_integer<int>(poison), recv_.bytes);
    recv_.arena->push(recv_.bytes);
  }
  return *recv_.arena;
}

Buffers& Buffers::of_thread(std::size_t thread) {
  while (threads_.size() <= thread) threads_.push_back(std::make_unique<Buffers>(make_));
  return *threads_[thread];
}

void Buffers::lend_send(const Contents& contents, std::byte* at, std::size_t bytes) {
  fill_with(contents, {at, bytes});
  send_[contents] = {std::make_unique<LentArena>(at), bytes};
}

void Buffers::lend_recv(std::byte* at, std::size_t bytes) {
  std::memset(at, std::to_integer<int>(poison), bytes);
  recv_ = {std::make_unique<LentArena>(at), bytes};
}

void Buffers::drop() {
  threads_.clear();
  send_.clear();
  recv_ = {};
  ++epoch_;
}

}  // namespace mpigauge

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "storage.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace mpigauge::profile {

namespace {

constexpr std::size_t first_piece = std::size_t{1} << 17U;
constexpr std::size_t largest_piece = std::size_t{1} << 24U;
constexpr std::size_t own_piece = std::size_t{1} << 18U;

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// Not posix_fallocate where the file system can be asked itself: that one would write into each
// page. A signal may cut it short; a program that gets one each moment is not waited for.
int reserve(int file, std::size_t offset, std::size_t bytes) {
  const auto from = static_cast<off_t>(offset), length = static_cast<off_t>(bytes);
  constexpr int tries = 100;
  for (int n = 0; n < tries; ++n) {
    if (fallocate(file, 0, from, length) == 0) return 0;
    if (errno == EOPNOTSUPP) return posix_fallocate(file, from, length);
    if (errno != EINTR) break;
  }
  return errno;
}

std::byte* mapped(int file, std::size_t offset, std::size_t bytes) {
  void* const at =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

}  // namespace

bool Storage::open(const char* path, std::size_t limit) {
  limit_ = limit;
  file_ = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file_ < 0) return false;
  if (const int error = reserve(file_, 0, layout::page); error != 0) {
    errno = error;
    return false;
  }
  std::byte* const at = mapped(file_, 0, layout::page);
  if (at == nullptr) return false;
  head_ = reinterpret_cast<layout::Head*>(at);
  size_ = layout::page;
  head_->version = layout::version;
  head_->magic = layout::magic;
  return true;
}

layout::Block* Storage::block(std::size_t bytes) {
  const std::size_t whole = rounded(bytes, layout::grain);
  const bool fits = next_ != nullptr && static_cast<std::size_t>(end_ - next_) >= whole;
  if (!fits && !grow(whole)) return nullptr;
  auto* const made = reinterpret_cast<layout::Block*>(next_);
  next_ += whole;
  made->bytes = static_cast<std::uint32_t>(whole);
  return made;
}

void Storage::publish(layout::Block& block, layout::Kind kind) {
  std::atomic_ref(block.kind).store(static_cast<std::uint32_t>(kind), std::memory_order_release);
}

// The rest of the piece before stays empty, which ends it for readers.
bool Storage::grow(std::size_t bytes) {
  const auto lose = [this](layout::Loss loss) {
    if (head_->loss == 0) head_->loss = static_cast<std::uint32_t>(loss);
    return false;
  };
  const std::size_t doubled = std::clamp(size_, first_piece, largest_piece);
  const std::size_t piece = rounded(std::max(bytes, doubled), layout::page);
  if (head_->pieces == layout::most_pieces || size_ + piece > limit_) {
    return lose(layout::Loss::limit);
  }
  if (reserve(file_, size_, piece) != 0) return lose(layout::Loss::disk);
  std::byte* const at = mapped(file_, size_, piece);
  if (at == nullptr) return lose(layout::Loss::disk);
  head_->piece[head_->pieces] = {size_, piece};
  std::atomic_ref(head_->pieces).store(head_->pieces + 1, std::memory_order_release);
  size_ += piece;
  next_ = at;
  end_ = at + piece;
  return true;
}

void* own_memory(std::size_t bytes) {
  static std::byte *next = nullptr, *end = nullptr;
  const std::size_t whole = rounded(bytes, layout::grain);
  if (next == nullptr || static_cast<std::size_t>(end - next) < whole) {
    const std::size_t piece = std::max(rounded(whole, layout::page), own_piece);
    void* const at =
        mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    next = static_cast<std::byte*>(at);
    end = next + piece;
  }
  void* const made = next;
  next += whole;
  return made;
}

}  // namespace mpigauge::profile

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Memory for messages. All cells share one arena per purpose: memory is the maximum over cells,
// not their sum, and an epoch re-maps everything at once.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/memory_kinds.hpp"
#include "core/types.hpp"

namespace mpigauge {

/// Where in its rotation a call is. Kernels hand it on and do not look inside.
struct Turn {
  std::size_t slot = 0;  ///< which copy of the buffers, when cold
  int root = 0;          ///< rank of the root, when it shifts
};

/// A place for data: where MPI finds it, and where the CPU reads and writes it. These differ for
/// memory of a GPU, of which the host has a mirror.
struct Location {
  std::byte* data = nullptr;
  std::byte* mirror = nullptr;
  [[nodiscard]] Location operator+(std::size_t offset) const {
    return {data + offset, mirror + offset};
  }
};

/// A buffer of a rank: `slots` copies, `stride` bytes apart (one copy and no stride when hot).
class Block {
 public:
  /// The element that MPI counts, where it is not the data type.
  struct Item {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::size_t bytes = 0;
  };

  Block() = default;
  Block(Location at, std::size_t bytes, std::size_t stride, const DataType* type)
      : Block(at, bytes, stride, type, {type->mpi(), type->bytes}) {}
  Block(Location at, std::size_t bytes, std::size_t stride, const DataType* type, Item item)
      : at_(at),
        bytes_(bytes),
        stride_(stride),
        count_(item.bytes > 0 ? static_cast<MPI_Count>(bytes / item.bytes) : 0),
        type_(type),
        item_(item) {}

  /// The whole buffer as a message.
  [[nodiscard]] Message operator[](Turn t) const {
    return {at_.data + t.slot * stride_, count_, item_.type};
  }
  /// `bytes` of it from `offset` on.
  [[nodiscard]] Block part(std::size_t offset, std::size_t bytes) const {
    return {at_ + offset, bytes, stride_, type_, item_};
  }
  /// The address that MPI gets.
  [[nodiscard]] std::byte* data() const { return at_.data; }
  /// The bytes as the CPU sees them. Of memory on a GPU it is the mirror, which Run::measure()
  /// copies to the GPU before the checked call, and Run::refresh() back after it.
  [[nodiscard]] std::span<std::byte> bytes() const { return {at_.mirror, bytes_}; }
  [[nodiscard]] std::span<std::byte> bytes(std::size_t offset, std::size_t count) const {
    return {at_.mirror + offset, count};
  }
  [[nodiscard]] const DataType& type() const { return *type_; }

 private:
  Location at_;
  std::size_t bytes_ = 0;
  std::size_t stride_ = 0;
  MPI_Count count_ = 0;  // a division, so not in the timed loop
  const DataType* type_ = nullptr;
  Item item_;
};

/// What a send buffer holds: bytes of a rank, or its part of a reduction.
struct Contents {
  const DataType* type = nullptr;
  std::string op;  ///< empty: transfer
  int rank = 0;
  bool fresh = false;  ///< written anew before each call, so kept apart from what is not
  bool operator<(const Contents& o) const {
    return std::tie(type, op, rank, fresh) < std::tie(o.type, o.op, o.rank, o.fresh);
  }
};

/// The values of some contents, ready to be copied, from any element on.
class Pattern {
 public:
  explicit Pattern(const Contents& contents);
  /// Fills with the values from element `first` on (of a transfer: from that byte on).
  void write(std::size_t first, std::span<std::byte> to) const;

 private:
  std::size_t element_;
  std::size_t period_;  // in bytes, as the next
  std::vector<std::byte> values_;
};

/// Memory for buffers of one purpose.
class Arena {
 public:
  Arena() = default;
  virtual ~Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  [[nodiscard]] virtual Location location() const = 0;
  /// Copies the first bytes of the mirror to where MPI finds them...
  virtual void push(std::size_t /*bytes*/) {}
  /// ...and back.
  virtual void pull(std::size_t /*bytes*/) {}
};

/// Allocates an arena. Throws std::bad_alloc: there is not so much memory.
using MakeArena = std::unique_ptr<Arena> (*)(std::size_t bytes);
/// Own pages, new ones at each epoch.
std::unique_ptr<Arena> mapped_arena(std::size_t bytes);
/// MPI_Alloc_mem, as IMB does.
std::unique_ptr<Arena> mpi_arena(std::size_t bytes);

/// The arenas of a rank.
class Buffers {
 public:
  explicit Buffers(MakeArena make) : make_(make) {}

  /// A send buffer that is filled already; `total` covers all its slots.
  Arena& send(const Contents& contents, std::size_t total);
  /// The values of such a buffer, for writing them again.
  const Pattern& pattern(const Contents& contents);
  /// A receive buffer that has been written to.
  Arena& recv(std::size_t total);
  /// Buffers of a further thread of this rank, kept until drop().
  Buffers& of_thread(std::size_t thread);
  /// Makes a part of some larger memory the send buffer...
  void lend_send(const Contents& contents, std::byte* at, std::size_t bytes);
  /// ...and the receive buffer. The memory must outlive these buffers.
  void lend_recv(std::byte* at, std::size_t bytes);
  /// Gives all memory back, so that the next buffers are new.
  void drop();
  /// Number of times that the buffers were new.
  [[nodiscard]] int epoch() const { return epoch_; }

 private:
  struct Held {
    std::unique_ptr<Arena> arena;
    std::size_t bytes = 0;
  };
  /// Makes it large enough; true where it is new.
  bool hold(Held& held, std::size_t bytes);

  MakeArena make_;
  std::map<Contents, Held> send_;
  std::map<Contents, Pattern> patterns_;
  Held recv_;
  std::vector<std::unique_ptr<Buffers>> threads_;
  int epoch_ = 1;
};

}  // namespace mpigauge

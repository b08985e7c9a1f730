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

#include "core/types.hpp"

namespace mpigauge {

/// Where in its rotation a call is. Kernels hand it on and do not look inside.
struct Turn {
  std::size_t slot = 0;  ///< which copy of the buffers, when cold
  int root = 0;          ///< rank of the root, when it shifts
};

/// A buffer of a rank: `slots` copies, `stride` bytes apart (one copy and no stride when hot).
class Block {
 public:
  Block() = default;
  Block(std::byte* base, std::size_t bytes, std::size_t stride, const DataType* type)
      : base_(base),
        bytes_(bytes),
        stride_(stride),
        count_(static_cast<MPI_Count>(bytes / type->bytes)),
        type_(type),
        item_{type->mpi(), type->bytes} {}
  /// What MPI is told that a buffer consists of, where that is not its type.
  struct Item {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::size_t bytes = 0;
  };
  Block(std::byte* base, std::size_t bytes, std::size_t stride, const DataType* type, Item item)
      : base_(base),
        bytes_(bytes),
        stride_(stride),
        count_(item.bytes > 0 ? static_cast<MPI_Count>(bytes / item.bytes) : 0),
        type_(type),
        item_(item) {}

  /// The whole buffer as a message.
  [[nodiscard]] Message operator[](Turn t) const {
    return {base_ + t.slot * stride_, count_, item_.type};
  }
  /// `bytes` of it from `offset` on.
  [[nodiscard]] Block part(std::size_t offset, std::size_t bytes) const {
    return {base_ + offset, bytes, stride_, type_, item_};
  }
  [[nodiscard]] std::span<std::byte> bytes() const { return {base_, bytes_}; }
  [[nodiscard]] std::span<std::byte> bytes(std::size_t offset, std::size_t count) const {
    return {base_ + offset, count};
  }
  [[nodiscard]] const DataType& type() const { return *type_; }

 private:
  std::byte* base_ = nullptr;
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

class Arena {
 public:
  virtual ~Arena() = default;
  [[nodiscard]] virtual std::byte* data() const = 0;
};

/// The arenas of a rank.
class Buffers {
 public:
  enum class Source { mapped, mpi };

  /// `mapped`: own pages, new ones at each epoch. `mpi`: MPI_Alloc_mem, as IMB does.
  explicit Buffers(Source source) : source_(source) {}

  /// A send buffer that is filled already; `total` covers all its slots.
  std::byte* send(const Contents& contents, std::size_t total);
  /// The values of such a buffer, for writing them again.
  const Pattern& pattern(const Contents& contents);
  /// A receive buffer that has been written to.
  std::byte* recv(std::size_t total);
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
  std::byte* hold(Held& held, std::size_t bytes);
  static void fill(const Contents& contents, std::byte* at, std::size_t bytes);

  Source source_;
  std::map<Contents, Held> send_;
  std::map<Contents, Pattern> patterns_;
  Held recv_;
  std::vector<std::unique_ptr<Buffers>> threads_;
  int epoch_ = 1;
};

}  // namespace mpigauge

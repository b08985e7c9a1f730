// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Messages of derived types: a message as one element of a vector type, and reductions of types
// for which MPI has no operation.
#pragma once

#include "core/option_words.hpp"
#include "core/types.hpp"

namespace mpigauge {

constexpr bool is_vector(Contiguity c) {
  return c == Contiguity::base_vec || c == Contiguity::resize_vec;
}
constexpr bool is_spread(Contiguity c) {
  return c == Contiguity::resize || c == Contiguity::resize_vec;
}

/// The type of a whole message, and an operation that reduces it element by element. One at a time
/// in a process.
class Derived {
 public:
  /// `count` elements of `type` in a message; `op` may be null. Empty messages have no vector type,
  /// they are not elements of the type itself.
  Derived(const DataType& type, const Op* op, Contiguity contiguity, std::size_t count);
  ~Derived();
  Derived(const Derived&) = delete;
  Derived& operator=(const Derived&) = delete;

  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] MPI_Op op() const { return op_; }
  /// Elements of the derived type in a message.
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  std::size_t count_ = 0;
  bool made_ = false;
};

}  // namespace mpigauge

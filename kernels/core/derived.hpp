// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Messages of derived types: a message as one element of a vector type, and reductions of types
// for which MPI has no operation.
#pragma once

#include <string_view>

#include "core/types.hpp"

namespace mpigauge {

/// How the elements of a message are laid out (IMB's -contig_type).
enum class Contiguity {
  base,           ///< elements of a basic type, one behind the other
  vector,         ///< one element of a vector type of them (base_vec)
  spread,         ///< elements with as much room behind each (resize)
  spread_vector,  ///< one element of a vector type of those (resize_vec)
};
std::string_view word(Contiguity contiguity);
constexpr bool is_vector(Contiguity c) {
  return c == Contiguity::vector || c == Contiguity::spread_vector;
}
constexpr bool is_spread(Contiguity c) {
  return c == Contiguity::spread || c == Contiguity::spread_vector;
}

/// The type of a whole message, and an operation that reduces it element by element. One at a time
/// in a process.
class Derived {
 public:
  /// `count` elements of `type` in a message; `op` may be null. Empty messages have no vector type,
  /// they are no elements of the type itself.
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

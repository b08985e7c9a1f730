// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Data types and reduction operations, and data whose right result is known exactly.
//
// Transfers carry bytes that depend on the sender and on the place, never zero. Reductions carry
// small whole numbers, so that any order of summation gives the same bits.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/mpi.hpp"

namespace mpigauge {

/// The values of reductions repeat after so many elements.
constexpr std::size_t pattern_period = 1464;  // of 8, 3 and 61, the periods of the single rules

struct DataType {
  std::string_view name;
  std::size_t bytes;
  MPI_Datatype (*mpi)();
  /// Writes the values that `rank` contributes to a reduction by the operation, from element
  /// `first` on.
  void (*fill)(std::string_view op, int rank, std::size_t first, std::byte* to, std::size_t count);
  /// Combines element by element: to[i] = to[i] op from[i].
  void (*combine)(std::string_view op, const std::byte* from, std::byte* to, std::size_t count);
  /// Whether two elements are equal.
  bool (*same)(const std::byte* a, const std::byte* b);
  /// Operations that the type has; names of ops().
  std::span<const std::string_view> ops;
};

struct Op {
  std::string_view name;
  MPI_Op (*mpi)();
};

std::span<const DataType> data_types();
std::span<const Op> ops();
const DataType* find_type(std::string_view name);
/// The same type with twice the extent: as much unused room behind each element, so that its bytes
/// are twice as many. Null for types that have no such form.
const DataType* find_spread(std::string_view name);
const Op* find_op(std::string_view name);
bool has_op(const DataType& type, std::string_view op);

/// The bytes of transfers repeat after so many: a prime, so that no power of two hides a shift.
constexpr std::size_t byte_period = 251;
/// Fills with the bytes that `rank` sends, from byte `first` of its send buffer on.
void fill_bytes(int rank, std::size_t first, std::span<std::byte> to);
/// How many bytes differ from those.
std::size_t wrong_bytes(int rank, std::size_t first, std::span<const std::byte> got);

/// The values of one period after a reduction over `ranks` ranks.
std::vector<std::byte> reduced_period(const DataType& type, std::string_view op, int ranks);
/// How many elements differ from the repeated period, beginning at element `first`.
std::size_t wrong_elements(const DataType& type, std::span<const std::byte> period,
                           std::size_t first, std::span<const std::byte> got);

constexpr std::byte poison{0xA5};

}  // namespace mpigauge

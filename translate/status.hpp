// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Statuses: what is in them, and how each ABI keeps it.
#pragma once

#include <cstring>

#include "abi.hpp"

namespace mpigauge::translate {

template <Abi abi>
struct StatusOf;
template <>
struct StatusOf<Abi::mpich> {
  std::uint32_t low, high;  // bytes; the lowest bit of the second says whether it was cancelled
  int source, tag, error;
};
template <>
struct StatusOf<Abi::ompi> {
  int source, tag, error, cancelled;
  std::uint64_t bytes;
};
template <>
struct StatusOf<Abi::std> {
  int source, tag, error;
  std::array<std::uint32_t, 5> inner;
};
using ProgramStatus = StatusOf<program_abi>;
using TargetStatus = StatusOf<target_abi>;
static_assert(sizeof(StatusOf<Abi::mpich>) == 20 && sizeof(StatusOf<Abi::ompi>) == 24 &&
              sizeof(StatusOf<Abi::std>) == 32);

/// What a status does not show.
struct Hidden {
  std::uint64_t bytes;
  bool cancelled;
};

/// How a library with the standard ABI keeps it in the words that are its own: found out by asking
/// it, see target.cpp.
enum class Inner : std::uint8_t { as_mpich, as_ompi };
extern Inner inner_of_target;

inline Hidden hidden(std::uint32_t low, std::uint32_t high) {
  return {(std::uint64_t{high >> 1U} << 32U) | low, (high & 1U) != 0};
}
inline std::uint32_t high_of(const Hidden& all) {
  return (static_cast<std::uint32_t>(all.bytes >> 32U) << 1U) | (all.cancelled ? 1U : 0U);
}

inline Hidden read(const StatusOf<Abi::mpich>& status, Inner) {
  return hidden(status.low, status.high);
}
inline Hidden read(const StatusOf<Abi::ompi>& status, Inner) {
  return {status.bytes, status.cancelled != 0};
}
inline Hidden read(const StatusOf<Abi::std>& status, Inner inner) {
  if (inner == Inner::as_mpich) return hidden(status.inner[0], status.inner[1]);
  Hidden all{0, status.inner[0] != 0};
  std::memcpy(&all.bytes, &status.inner[1], sizeof all.bytes);
  return all;
}

inline void write(StatusOf<Abi::mpich>& status, const Hidden& all, Inner) {
  status.low = static_cast<std::uint32_t>(all.bytes);
  status.high = high_of(all);
}
inline void write(StatusOf<Abi::ompi>& status, const Hidden& all, Inner) {
  status.bytes = all.bytes;
  status.cancelled = all.cancelled ? 1 : 0;
}
inline void write(StatusOf<Abi::std>& status, const Hidden& all, Inner inner) {
  if (inner == Inner::as_mpich) {
    status.inner[0] = static_cast<std::uint32_t>(all.bytes);
    status.inner[1] = high_of(all);
  } else {
    status.inner[0] = all.cancelled ? 1 : 0;
    std::memcpy(&status.inner[1], &all.bytes, sizeof all.bytes);
  }
}

/// In the statuses that we give to a program, all is where MPICH has it.
inline constexpr Inner inner_of_program = Inner::as_mpich;

}  // namespace mpigauge::translate

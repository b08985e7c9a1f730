// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The ABIs of MPI as types and constants: of the program that calls us, and of the target, the MPI
// that does the work. Both are fixed when the library is built; the values are in constants.inc.
#pragma once

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>

namespace mpigauge::translate {

enum class Abi : std::uint8_t { mpich, ompi, std };

inline constexpr Abi program_abi = Abi::MPIGAUGE_PROGRAM;
inline constexpr Abi target_abi = Abi::MPIGAUGE_TARGET;

using Word = std::uintptr_t;
/// MPI_Aint, MPI_Offset and MPI_Count, which are alike in all ABIs.
using Wide = std::int64_t;

// --- handles ------------------------------------------------------------------------------------

enum class Kind : std::uint8_t {
  comm,
  datatype,
  errhandler,
  file,
  group,
  info,
  message,
  op,
  request,
  session,
  win
};
inline constexpr std::size_t kinds = 11;

template <Abi abi, Kind kind>
struct HandleOf {
  using Type = void*;
};
template <Kind kind>
struct HandleOf<Abi::mpich, kind> {
  using Type = int;
};
template <>
struct HandleOf<Abi::mpich, Kind::file> {
  using Type = void*;
};

template <Kind kind>
using ProgramHandle = typename HandleOf<program_abi, kind>::Type;
template <Kind kind>
using TargetHandle = typename HandleOf<target_abi, kind>::Type;

/// A handle as a word, and back. Integers are not extended by their sign.
template <class Handle>
constexpr Word word_of(Handle handle) {
  if constexpr (sizeof(Handle) == sizeof(int)) {
    return static_cast<std::uint32_t>(handle);
  } else {
    return reinterpret_cast<Word>(handle);
  }
}
template <class Handle>
Handle handle_of(Word word) {
  if constexpr (sizeof(Handle) == sizeof(int)) {
    return static_cast<Handle>(static_cast<std::uint32_t>(word));
  } else {
    return reinterpret_cast<Handle>(word);
  }
}

/// A handle that is always there. Those of Open MPI are addresses of objects.
struct Predefined {
  Kind kind;
  Word mpich;
  const char* ompi;
  Word std;
};
inline constexpr Word no_value = ~Word{0};

inline constexpr std::array predefined = {
#define MPIGAUGE_HANDLE(KIND, NAME, MPICH, OMPI, STD) Predefined{Kind::KIND, MPICH, OMPI, STD},
#define MPIGAUGE_INTEGER(...)
#define MPIGAUGE_OBJECT(...)
#include "constants.inc"
#undef MPIGAUGE_HANDLE
#undef MPIGAUGE_INTEGER
};

// --- integers -----------------------------------------------------------------------------------

/// What the ABI has no value for. No MPI takes it for one.
inline constexpr int no_integer = INT_MIN + 7;

template <Abi abi>
constexpr int pick(int mpich, int ompi, int std) {
  switch (abi) {
    case Abi::mpich: return mpich;
    case Abi::ompi: return ompi;
    case Abi::std: break;
  }
  return std;
}

template <Abi abi>
struct Constants {
#define MPIGAUGE_HANDLE(...)
#define MPIGAUGE_INTEGER(GROUP, NAME, MPICH, OMPI, STD) \
  static constexpr int NAME = pick<abi>(MPICH, OMPI, STD);
#include "constants.inc"
#undef MPIGAUGE_INTEGER
};
using Program = Constants<program_abi>;
using Target = Constants<target_abi>;

enum class Group : std::uint8_t {
  error,
  thread_level,
  file_mode,
  window_assertion,
  combiner,
  order,
  distribution,
  distribution_argument,
  type_class,
  comparison,
  topology,
  split_type,
  lock_type,
  window_flavor,
  window_model,
  seek,
  keyval,
  rank,
  tag,
  displacement,
  length,
  address,
  tool_verbosity,
  tool_scope,
  tool_bind,
  tool_class,
  tool_safety,
  tool_order
};

struct Pair {
  int program, target;
};

namespace detail {
struct Integer {
  Group group;
  Pair pair;
};
inline constexpr std::array integers = {
#define MPIGAUGE_INTEGER(GROUP, NAME, MPICH, OMPI, STD) \
  Integer{Group::GROUP, {pick<program_abi>(MPICH, OMPI, STD), pick<target_abi>(MPICH, OMPI, STD)}},
#include "constants.inc"
#undef MPIGAUGE_HANDLE
#undef MPIGAUGE_INTEGER
#undef MPIGAUGE_OBJECT
};
constexpr std::size_t count_of(Group group) {
  std::size_t count = 0;
  for (const Integer& each : integers) count += each.group == group ? 1 : 0;
  return count;
}
template <Group group>
constexpr auto pairs_of() {
  std::array<Pair, count_of(group)> found{};
  std::size_t n = 0;
  for (const Integer& each : integers) {
    if (each.group == group) found[n++] = each.pair;
  }
  return found;
}
}  // namespace detail

/// The values of a group in both ABIs. Variables, as a library may have other values than its ABI.
template <Group group>
inline constinit auto pairs = detail::pairs_of<group>();

/// Whether a number that the ABI does not name means nothing: it is an extension of one library, as
/// MPIX_COMM_TYPE_NEIGHBORHOOD, or a mistake, and must not become a value of the target by chance.
template <Group group>
constexpr bool is_closed =
    group == Group::split_type || group == Group::order || group == Group::distribution ||
    group == Group::type_class || group == Group::lock_type || group == Group::seek;

template <Group group>
int to_target(int value) {
  for (const Pair& each : pairs<group>) {
    if (each.program == value) return each.target;
  }
  // MPI_UNDEFINED and its like are below zero, and the same everywhere.
  if (is_closed<group> && value >= 0) return no_integer;
  return value;
}
template <Group group>
int to_program(int value) {
  for (const Pair& each : pairs<group>) {
    if (each.target == value) return each.program;
  }
  return value;
}
/// Values that are joined by `|`.
template <Group group>
int bits_to_target(int value) {
  int bits = 0;
  for (const Pair& each : pairs<group>) {
    if ((value & each.program) != 0) bits |= each.target;
  }
  return bits;
}
template <Group group>
int bits_to_program(int value) {
  int bits = 0;
  for (const Pair& each : pairs<group>) {
    if ((value & each.target) != 0) bits |= each.program;
  }
  return bits;
}

/// An address that stands for something, as MPI_IN_PLACE.
inline void* address_of(int value) { return reinterpret_cast<void*>(static_cast<Wide>(value)); }

}  // namespace mpigauge::translate

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Handles as Fortran has them: integers. In MPICH's ABI these are those of C. Elsewhere predefined
// ones have small numbers, and the others the number that the target gives them.
#pragma once

#include "by_hand.hpp"

namespace mpigauge::translate {

template <Kind kind>
struct Conversions;
#define MPIGAUGE_CONVERSIONS(KIND, NAME)                                    \
  template <>                                                               \
  struct Conversions<Kind::KIND> {                                          \
    static constexpr Call to = call_##NAME##_c2f, from = call_##NAME##_f2c; \
  };
#define MPIGAUGE_FOR_EACH_KIND(DO) \
  DO(comm, Comm)                   \
  DO(datatype, Type)               \
  DO(errhandler, Errhandler)       \
  DO(file, File)                   \
  DO(group, Group)                 \
  DO(info, Info)                   \
  DO(message, Message)             \
  DO(op, Op)                       \
  DO(request, Request)             \
  DO(session, Session)             \
  DO(win, Win)
MPIGAUGE_FOR_EACH_KIND(MPIGAUGE_CONVERSIONS)
#undef MPIGAUGE_CONVERSIONS

/// Predefined handles of Open MPI's Fortran are numbered from 0 on; those of the standard are those
/// of C. What is above belongs to the target.
inline constexpr int predefined_in_fortran = 4096;
/// The number in Open MPI's Fortran of an entry, or -1; and the entry of a number.
int fortran_number(std::size_t entry);
Word object_with_number(Kind kind, int number);

namespace detail {

/// Numbers that the target gives to its own handles: integers anyway, or counted by Open MPI. Those
/// of files may be small, and libraries with the standard's ABI do not all take theirs back, so
/// there the numbers are ours.
template <Kind kind>
constexpr bool numbered_by_target = target_abi != Abi::std && kind != Kind::file;
inline constexpr int above_predefined = target_abi == Abi::mpich ? 0 : predefined_in_fortran;

template <Kind kind>
inline constinit SharedSlots numbers{};

template <Kind kind>
int number_by_target(TargetHandle<kind> handle) {
  if constexpr (target_abi == Abi::mpich) {
    return handle;
  } else {
    const Function call = function_of<Conversions<kind>::to>();
    if (call == nullptr) return missing(Conversions<kind>::to);
    return reinterpret_cast<int (*)(TargetHandle<kind>)>(call)(handle) + above_predefined;
  }
}

template <Kind kind>
TargetHandle<kind> handle_by_target(int number) {
  if constexpr (target_abi == Abi::mpich) {
    return number;
  } else {
    const Function call = function_of<Conversions<kind>::from>();
    if (call == nullptr) return null_for_target<kind>();
    return reinterpret_cast<TargetHandle<kind> (*)(int)>(call)(number - above_predefined);
  }
}

}  // namespace detail

template <Kind kind>
int to_fortran(ProgramHandle<kind> handle) {
  const Word word = word_of(handle);
  if constexpr (program_abi == Abi::mpich) {
    if constexpr (kind != Kind::file) return handle;
    return word == 0 ? 0 : static_cast<int>(detail::numbers<kind>.seen(word));
  } else if constexpr (program_abi == Abi::std) {
    if (word < predefined_in_standard) return static_cast<int>(word);
  } else {
    if ((word & 1U) == 0) return fortran_number(*reinterpret_cast<const Word*>(word));
  }
  if constexpr (detail::numbered_by_target<kind>) {
    return detail::number_by_target<kind>(translate::to_target<kind>(handle));
  } else {
    return predefined_in_fortran + static_cast<int>(detail::numbers<kind>.seen(word));
  }
}

template <Kind kind>
ProgramHandle<kind> from_fortran(int number) {
  using Handle = ProgramHandle<kind>;
  if constexpr (program_abi == Abi::mpich) {
    if constexpr (kind != Kind::file) {
      return number;
    } else {
      return handle_of<Handle>(
          number == 0 ? 0 : detail::numbers<kind>.at(static_cast<std::uint32_t>(number)));
    }
  } else {
    if (number >= 0 && number < predefined_in_fortran) {
      return handle_of<Handle>(program_abi == Abi::std ? static_cast<Word>(number)
                                                       : object_with_number(kind, number));
    }
    if constexpr (detail::numbered_by_target<kind>) {
      return own_to_program<kind>(word_of(detail::handle_by_target<kind>(number)), Given::seen);
    } else {
      const int slot = number - predefined_in_fortran;
      return handle_of<Handle>(detail::numbers<kind>.at(static_cast<std::uint32_t>(slot)));
    }
  }
}

/// Fortran has no use for a number any more.
template <Kind kind>
void forget_number(int number) {
  if constexpr (program_abi != Abi::mpich && !detail::numbered_by_target<kind>) {
    if (number < predefined_in_fortran) return;
    detail::numbers<kind>.freed(static_cast<std::uint32_t>(number - predefined_in_fortran));
  }
}

}  // namespace mpigauge::translate

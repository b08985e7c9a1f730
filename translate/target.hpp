// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The target: the MPI that does the work. It is opened at the first call, by the path that
// MPIGAUGE_TRANSLATE_TO has.
#pragma once

#include <array>
#include <atomic>

#include "abi.hpp"

namespace mpigauge::translate {

using Function = void (*)();

enum Call : std::uint16_t {
#define MPIGAUGE_NAME(NAME) call_##NAME,
#include "names.inc"
#undef MPIGAUGE_NAME
  calls
};

/// The target's functions; null: not looked for yet, or not there.
extern std::array<std::atomic<Function>, calls> functions;

/// Opens the target at the first call. Null: it has no such function.
[[gnu::cold, gnu::noinline]] Function look_up(Call call);
const char* name_of(Call call);

template <Call call>
inline Function function_of() {
  Function found = functions[call].load(std::memory_order_relaxed);
  if (found == nullptr) [[unlikely]]
    found = look_up(call);
  return found;
}

/// Calls the target by its own words; for what we ask it ourselves.
template <Call call, class... Words>
int ask(Words... words) {
  const Function found = function_of<call>();
  if (found == nullptr) return Target::MPI_ERR_OTHER;
  return reinterpret_cast<int (*)(Words...)>(found)(words...);
}

/// The program called what the target lacks: says so, and gives it to the error handler of
/// MPI_COMM_WORLD. What it returns is the program's error.
[[gnu::cold, gnu::noinline]] int missing(Call call);
/// Something that cannot be handed on, said in a line; the same for an argument.
[[gnu::cold, gnu::noinline]] int refuse(const char* name, const char* why, int error_of_target);
/// Ends the process with a line: there is no way on.
[[noreturn, gnu::cold]] void end(const char* what, const char* which);

/// A variable of the target's library, as MPI_UNWEIGHTED in MPICH; null: not there.
void* symbol_of_target(const char* name);
/// What MPI has to be running for: how the target keeps statuses, and which values it has.
void look_at_target();
/// MPI_COMM_WORLD and MPI_BYTE of the target, as words.
Word world_of_target();
Word byte_of_target();

/// Error codes. For a program of Open MPI those of a target become their classes, as it compares
/// the two; a code that the program has asked for stays its own.
int error_to_program(int code);
int made_error_to_program(int code);
int error_to_target(int code);

}  // namespace mpigauge::translate

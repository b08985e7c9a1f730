// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Finds the line of Python that makes a call, by functions of the interpreter's C API. They are
// resolved by name, so one build serves all versions from 3.9 on, and a program without Python
// loads nothing for it.
#pragma once

#include "stack.hpp"

namespace mpigauge::profile {

/// Finds the interpreter; false when the process has none.
bool find_python();
/// The line that the calling thread executes, by its number in the file; 0: none. Not to be called
/// with the lock of the process held: the interpreter has one of its own.
std::uint32_t current_line();
/// Replaces the interpreter's frames of a stack by the line.
void end_at_python(Stack& stack, std::uint32_t line);

}  // namespace mpigauge::profile

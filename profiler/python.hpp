// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Which line of Python a call comes from. The interpreter of the process is asked, by functions of
// its C API that are found by name: so one build serves all versions from 3.9 on, and a program
// without Python loads nothing for it.
#pragma once

#include "stack.hpp"

namespace mpigauge::profile {

/// Finds the interpreter; false when the process has none.
bool find_python();
/// The line that the calling thread executes, by its number in the file; 0: none. Not to be called
/// with the lock of the process held: the interpreter has one of its own.
std::uint32_t current_line();
/// Lets a stack end with the line that called it, in place of the interpreter's own functions.
void end_at_python(Stack& stack, std::uint32_t line);

}  // namespace mpigauge::profile

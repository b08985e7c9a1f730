// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What the preloaded library asks the dynamic linker, past our own answers to programs (asked.cpp).
#pragma once

#include "library.hpp"

namespace mpigauge::profile {

/// dlsym as the dynamic linker has it: ours stands before it, see asked.cpp.
using FindSymbol = void* (*)(void*, const char*);
FindSymbol linkers_dlsym();
/// What a program would find if we were not there.
void* found_after_us(const char* name);
/// The MPI of this process, or of the code or data at an address; null: none.
void* mpi_seen_from(Word pc);
/// Whether a library of MPI has a call.
bool has_call(void* file, const char* name);
/// Whether the MPI of this process, or of the code at `pc`, has a call.
bool mpi_has(const char* name, Word pc);

}  // namespace mpigauge::profile

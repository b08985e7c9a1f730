// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What is written by hand has, and what calls of Fortran need of it.
#pragma once

#include "call.hpp"
#include "thunks.hpp"

/// The name that programs call, beside the one with a P before it: tools may stand before the
/// first.
#define MPIGAUGE_ALSO(NAME)                           \
  extern "C" [[gnu::visibility("default"), gnu::weak, \
               gnu::alias("PMPI_" #NAME)]] decltype(PMPI_##NAME) MPI_##NAME;

namespace mpigauge::translate {

/// How a callback of the program takes its arguments.
enum How : int { as_c, as_c_with_large_count, as_fortran, as_fortran_with_large_count };

/// A handle as Fortran has it, and back.
template <Kind kind>
int to_fortran(ProgramHandle<kind> handle);
template <Kind kind>
ProgramHandle<kind> from_fortran(int handle);

int create_op(Function function, How how, int commutes, ProgramHandle<Kind::op>* op);
template <Kind kind>
int create_errhandler(Function function, How how, ProgramHandle<Kind::errhandler>* errhandler);

}  // namespace mpigauge::translate

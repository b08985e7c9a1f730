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

/// While it exists, the next operation or error handler that this thread creates has a function of
/// Fortran.
class FunctionOfFortran {
 public:
  FunctionOfFortran();
  ~FunctionOfFortran();
  FunctionOfFortran(const FunctionOfFortran&) = delete;
  FunctionOfFortran& operator=(const FunctionOfFortran&) = delete;
};

}  // namespace mpigauge::translate

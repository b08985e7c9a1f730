// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A subroutine of Fortran for each call whose parameters say all of it.
#include "subroutines.hpp"

#include "f08.hpp"

#if !MPIGAUGE_PROGRAM_IS_STD

using namespace mpigauge::translate;  // NOLINT: what follows are the program's subroutines

#include "fortran.inc"
#if MPIGAUGE_PROGRAM_IS_MPICH
#include "f08.inc"
#endif

#endif

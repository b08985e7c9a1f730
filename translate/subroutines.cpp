// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A subroutine of Fortran for each call whose parameters say all of it.
#include "subroutines.hpp"

#if !MPIGAUGE_PROGRAM_IS_STD

using namespace mpigauge::translate;  // NOLINT: what follows are the program's subroutines

#include "fortran.inc"

#endif

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A function for each call whose parameters say all of it.
#include "by_hand.hpp"

using namespace mpigauge::translate;  // NOLINT: what follows are the program's functions

#include "calls.inc"

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What ends a launch in a certain version of an MPI library: it is refused there, with its reason,
// and the rest goes on. Each row was seen, and proven with a program of a few calls.
#pragma once

#include <string_view>

#include "core/types.hpp"

namespace mpigauge {

/// What a fault depends on.
struct Asked {
  std::string_view benchmark;
  int ranks = 1;
  std::string_view datatype;
  std::string_view op;  ///< empty: it does not reduce
};

/// Why a library that describes itself so does not survive this; empty: nothing is known against
/// it.
std::string_view known_fault(std::string_view library, const Asked& asked);
/// The same for the library that is open.
std::string_view known_fault(const Asked& asked);

}  // namespace mpigauge

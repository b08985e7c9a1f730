// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// A way through all lines of an array, each of which says where the next one is.
#pragma once

#include "suites/node/arrays.hpp"

namespace mpigauge::node {

struct Link {
  Link* next = nullptr;
};

/// Lays the way out in the first bytes of an array; how many lines it has, a power of two.
std::size_t lay_out(double* at, std::size_t bytes);
/// Where one is after so many loads, each of which needs the one before.
Link* follow(Link* at, std::size_t count);
/// How many lines are not on the way that starts and ends at the first one.
std::size_t missed(const Link* first, std::size_t lines);

}  // namespace mpigauge::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Matrices of small integers, so that every sum in a product is exact in any order, and each
// number of it can be compared with what it must be.
#pragma once

#include <cstddef>

#include "core/benchmark.hpp"

namespace mpigauge::node {

/// c is order x order, a order x depth, b depth x order.
struct Extent {
  std::size_t order = 0, depth = 0;
  bool operator==(const Extent&) const = default;
};

/// By columns, without gaps.
template <class Number>
struct Matrices {
  Number* a = nullptr;
  Number* b = nullptr;
  Number* c = nullptr;
  Extent extent;
};

/// The matrices of this process, a and b filled; those of other extents share the memory. Throws
/// Refused, on all ranks of the run alike, where memory is short.
template <class Number>
Matrices<Number> matrices_of(const Run& run, Extent extent);

/// Fills a and b.
template <class Number>
void fill(const Matrices<Number>& at);
/// Makes c ready for a checked product: with numbers where it is updated, else with none (NaN).
template <class Number>
void make_ready(const Matrices<Number>& at, bool update);
/// Numbers of c that are not c = a b, or after an update c - a b; every one is compared.
template <class Number>
std::size_t wrong_numbers(const Matrices<Number>& at, bool update);

}  // namespace mpigauge::node

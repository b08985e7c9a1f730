// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Three arrays of numbers, x, y and z, in memory that benchmarks of NODE share. y and z are never
// written once they are filled; so a visit finds them ready, however large they are.
#pragma once

#include <cstddef>

#include "core/benchmark.hpp"
#include "suites/node/vectors.hpp"

namespace mpigauge::node {

/// n numbers each. Number i of y is number_at(first_y + i); z likewise.
struct Arrays {
  double* x = nullptr;
  const double* y = nullptr;
  const double* z = nullptr;
  std::size_t n = 0;
  std::size_t first_y = 0, first_z = 0;
};

/// What lies at a place of the filled memory: integers, so that all results are exact.
constexpr double number_at(std::size_t place) {
  return static_cast<double>(1 + (place * 2654435761U >> 13U) % 1024);
}

/// The factor of a stream; what is updated again and again stays as large as it is.
constexpr double factor_of(Stream what) { return what == Stream::update ? -1.0 : 3.0; }

/// Makes x ready: numbers where they are read (update), else what no loop writes.
void make_ready(Stream what, const Arrays& arrays);
/// Numbers that are not what one pass over the arrays must give; every one is compared, and a sum
/// counts as one.
std::size_t wrong_numbers(Stream what, const Arrays& arrays, double sum);

/// The pages that memory is asked for with.
enum class Pages { usual, huge };

class Crew;

/// Arrays of this process of so many bytes each, z and y `lines` cache lines further on than they
/// would be. Each thread of the crew touches its part first, unless the run says on which NUMA
/// nodes they are to lie; then they are looked for there, page by page. Throws Refused, on all
/// ranks of the run alike, where memory is short, or is not where it was wanted.
Arrays arrays_of(const Run& run, const Crew& crew, Pages pages, std::size_t lines = 0);
/// What is known of a row that goes over such arrays: its threads, and the nodes they lie on, where
/// there are several or somebody asked; found out at the checked visit.
std::string whereabouts(const Shape& shape, Pages pages);
/// Whether the arrays lie in huge pages, most of them.
bool in_huge_pages(const Arrays& arrays);

/// Throws Refused on all ranks of the run unless `fine` holds on each of them.
void agree(const Run& run, bool fine, const std::string& otherwise);

}  // namespace mpigauge::node

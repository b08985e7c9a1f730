// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// The BLAS of a rank: tried out by another process on each host first, then opened, once.
#pragma once

#include <string>

#include "blas/library.hpp"
#include "core/benchmark.hpp"

namespace mpigauge::node {

/// The library that the settings name, with a thread for each core. Throws Refused on all ranks of
/// the run alike where there is none, or where it does not stand a trial on some host.
const blas::Library& library_of(const Run& run);
/// What this rank's library says of itself; empty before it was opened.
std::string words_of_library(const Shape& shape);

/// Counts the cores that a rank has to itself; all ranks of the job together.
void count_threads();
/// As many as OMP_NUM_THREADS says, else as were counted.
int threads_of_library();

/// Does parts of so many items on all cores of this rank at once, so that memory which is written
/// to is spread like them.
void side_by_side(std::size_t items, const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace mpigauge::node

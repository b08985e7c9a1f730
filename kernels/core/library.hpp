// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What the opened MPI library is, and what stands in for calls that an MPI-2.2 library has not.
#pragma once

#include <string>

#include "core/mpi.hpp"

namespace mpigauge {

/// The library's own words about itself. One of before MPI-3 has none; then its standard and file.
std::string library_text();
/// The standard that it says it implements, such as 4.1.
std::string library_standard();

/// The ranks of `comm` on this host, in the order of `key`; to be freed. All ranks together.
MPI_Comm split_by_host(MPI_Comm comm, int key);

}  // namespace mpigauge

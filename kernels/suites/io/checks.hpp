// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Whether what is in the file, and what came out of it, is right; byte by byte.
#pragma once

#include <cstddef>
#include <span>

#include "suites/io/file.hpp"

namespace mpigauge::io {

/// Bytes in the file that are not what the ranks wrote in so many turns; summed over ranks this is
/// their number. All ranks together, after File::settle().
std::size_t wrong_in_file(const Run& run, File& file, std::size_t turns);

/// Bytes of `got`, read at a turn, that are not what is in the file at this rank's place; all ranks
/// together.
std::size_t wrong_from_file(const Run& run, const File& file, std::size_t turn,
                            std::span<const std::byte> got);

}  // namespace mpigauge::io

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// What files hold that are read: each unit of four bytes says where in the file it is, so a block
// tells whether it is the right one whoever wrote it.
#pragma once

#include <cstddef>
#include <span>

namespace mpigauge::io {

/// Writes what a file holds from byte `first` on.
void fill_positions(std::size_t first, std::span<std::byte> to);
/// How many bytes differ from that.
std::size_t wrong_positions(std::size_t first, std::span<const std::byte> got);

}  // namespace mpigauge::io

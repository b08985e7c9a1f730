// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Pages behind memory, as far as a program has a say in them.
#pragma once

#include <cstddef>

namespace mpigauge::platform {

inline constexpr std::size_t huge_page = std::size_t{2} << 20U;

/// Asks for huge pages behind memory that nobody has touched yet. The system may not heed it:
/// bytes_in_huge_pages() tells.
void ask_for_huge_pages(std::byte* at, std::size_t bytes);
/// Bytes of the mappings that overlap this memory which lie in huge pages; 0 where the system does
/// not tell.
std::size_t bytes_in_huge_pages(const std::byte* at, std::size_t bytes);

}  // namespace mpigauge::platform

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
#include "suites/io/positions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "suites/io/share.hpp"

namespace mpigauge::io {

namespace {

// An odd factor, so that all differ; a large one, so that all four bytes differ from neighbours'.
constexpr std::uint32_t factor = 2654435761U;

using Unit = std::array<std::byte, unit_bytes>;

Unit unit_at(std::size_t first) {
  const auto number = static_cast<std::uint32_t>(first / unit_bytes + 1) * factor;
  Unit unit;
  std::memcpy(unit.data(), &number, sizeof number);
  return unit;
}

// Calls `with(unit, place in it, bytes of it, bytes done)` for each unit that the stretch touches.
template <class With>
void for_units(std::size_t first, std::size_t bytes, With with) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t in_unit = (first + done) % unit_bytes;
    const std::size_t part = std::min(unit_bytes - in_unit, bytes - done);
    with(unit_at(first + done), in_unit, part, done);
    done += part;
  }
}

}  // namespace

void fill_positions(std::size_t first, std::span<std::byte> to) {
  for_units(first, to.size(),
            [&](const Unit& unit, std::size_t in_unit, std::size_t part, std::size_t done) {
              std::memcpy(to.data() + done, unit.data() + in_unit, part);
            });
}

std::size_t wrong_positions(std::size_t first, std::span<const std::byte> got) {
  std::size_t wrong = 0;
  for_units(first, got.size(),
            [&](const Unit& unit, std::size_t in_unit, std::size_t part, std::size_t done) {
              if (std::memcmp(got.data() + done, unit.data() + in_unit, part) == 0) return;
              for (std::size_t i = 0; i < part; ++i)
                wrong += got[done + i] != unit[in_unit + i] ? 1U : 0U;
            });
  return wrong;
}

}  // namespace mpigauge::io

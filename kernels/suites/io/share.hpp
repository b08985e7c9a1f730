// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// How the bytes of one access are split over the ranks.
#pragma once

#include <cstddef>

#include "core/card.hpp"

namespace mpigauge::io {

/// A stretch of bytes.
struct Stretch {
  std::size_t first = 0;
  std::size_t bytes = 0;
};

/// IMB splits in units of an int; the first ranks have one more where it does not come out even.
constexpr std::size_t unit_bytes = 4;

/// What a rank has of `bytes` that all ranks read or write together: whole units, the last of which
/// may be cut, in the order of ranks.
constexpr Stretch share_of(std::size_t bytes, int rank, int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  const auto r = static_cast<std::size_t>(rank);
  const std::size_t units = (bytes + unit_bytes - 1) / unit_bytes;
  const std::size_t each = units / n, more = units % n;
  const auto start = [&](std::size_t of) {
    const std::size_t unit = of * each + (of < more ? of : more);
    return unit * unit_bytes < bytes ? unit * unit_bytes : bytes;
  };
  return {start(r), start(r + 1) - start(r)};
}

/// The largest share of any rank: what buffers must hold.
inline double largest_share(const Shape& shape) {
  return static_cast<double>(share_of(shape.bytes, 0, shape.ranks).bytes);
}

}  // namespace mpigauge::io

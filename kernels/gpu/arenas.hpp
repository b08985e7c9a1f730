// SPDX-License-Identifier: BSD-3-Clause
// Copyright the mpigauge authors
//
// Buffers in each kind of memory.
#pragma once

#include "core/buffers.hpp"

namespace mpigauge::gpu {

/// Allocates arenas of a kind of memory: `host` is what host memory is taken from. Pinned memory is
/// the host's, known to the driver; device and managed memory have a pinned mirror, through which
/// the CPU reads and writes them by copies.
[[nodiscard]] MakeArena arenas_in(Memory memory, MakeArena host);

}  // namespace mpigauge::gpu

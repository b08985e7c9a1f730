# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Benchmarks of the suite NODE, and their sizes, for all plans that measure a machine itself."""

from __future__ import annotations

from mpigauge.model.sizes import parse_sizes

SECONDS = 60.0
"""The total time, unless the user gives one."""
PEAKS = ("Peak_scalar", "Peak_sse2", "Peak_avx2", "Peak_avx512", "Peak_neon")
PRODUCTS = ("DGEMM", "SGEMM")
CLOCKS = ("Clock_multiply", "Clock_xor")
NOISE = "Noise"
ARRAY = tuple(parse_sizes("128Mi"))
"""The bytes of each of three arrays, on each rank, unless a cache is too large for them."""
OF_RANK = (8 * 2000**2,)
"""Bytes of a product on one core, which takes about a fifth of a second on a current core."""
MEASURES = "node measures"
"""The beginning of a message about the placement."""

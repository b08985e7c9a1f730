# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What all plans that measure a machine itself share: benchmarks of the suite NODE, and sizes."""

from __future__ import annotations

from mpigauge.model.sizes import parse_sizes

SECONDS = 60.0
"""In all, unless a time is asked for."""
PEAKS = ("Peak_scalar", "Peak_sse2", "Peak_avx2", "Peak_avx512", "Peak_neon")
PRODUCTS = ("DGEMM", "SGEMM")
CLOCKS = ("Clock_multiply", "Clock_xor")
NOISE = "Noise"
ARRAY = tuple(parse_sizes("128Mi"))
"""Of each of three arrays, on each rank, unless a cache is so large that they have to be larger."""
OF_RANK = (8 * 2000**2,)
"""Bytes of a product on one core: it takes a fifth of a second of a core of today."""
MEASURES = "node measures"
"""How a message about the placement begins."""

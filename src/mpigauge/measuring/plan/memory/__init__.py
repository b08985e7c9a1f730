# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Buffers of ranks: their memory, its limits and the GPUs that hold them."""

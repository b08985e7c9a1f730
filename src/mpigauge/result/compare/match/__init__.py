# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Matches the numbers of two sides, and names what is left out."""

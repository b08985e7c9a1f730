# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Comparisons of rows: between runs, or settings, compilers and data within one run."""

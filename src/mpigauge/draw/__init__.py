# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plots as values, drawn as SVG or in characters, independent of benchmarks."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs to statements: models of curves, and what stands out with its likely cause."""

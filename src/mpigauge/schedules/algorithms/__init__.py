# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Algorithms of collectives, a file for each family."""

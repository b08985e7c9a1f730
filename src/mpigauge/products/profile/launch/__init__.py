# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Launches of a program with the profiler in all ranks."""

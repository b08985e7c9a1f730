# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Measurements: the plan of a run, its launches, and their display while they run."""

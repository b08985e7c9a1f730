# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Starts jobs, watches their processes, and finds the reason when one fails."""

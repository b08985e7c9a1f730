# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rows beside rows: of runs, or of the settings, compilers and data within one."""

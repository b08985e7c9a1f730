# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles beside measurements of their machine."""

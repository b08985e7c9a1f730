# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Streams, the screen and its tables."""

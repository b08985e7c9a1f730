# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tunings as text and as pages."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Derives rules that are significantly faster than the default from measured candidates."""

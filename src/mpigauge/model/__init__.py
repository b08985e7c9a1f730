# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plain values that all other folders share."""

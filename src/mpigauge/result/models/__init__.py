# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Models of measured curves: breaks, LogGP, bounds of collectives."""

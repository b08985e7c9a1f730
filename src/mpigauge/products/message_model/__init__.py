# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge model`: latency and bandwidth as a line in pieces, LogGP, bounds of collectives."""

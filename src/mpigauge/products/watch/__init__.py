# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge watch`: a run that goes on elsewhere."""

EVERY_S = 1.0
"""The usual time between two looks at its files, in seconds."""

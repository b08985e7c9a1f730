# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The checks, a file for each or for a few that belong together."""

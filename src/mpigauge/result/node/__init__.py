# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Results of the suite NODE: limits of a machine."""

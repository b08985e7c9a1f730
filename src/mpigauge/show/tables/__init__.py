# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tables of words in the formats that other programs read."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pages of HTML that need nothing but themselves: no network, and no script to be right."""

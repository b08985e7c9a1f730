# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge tune`: measures the algorithms of collectives, writes rules for those that are faster
than the default, and proves that they help."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge sweep`, `best` and `plan`: settings measured in turn, and the best of them."""

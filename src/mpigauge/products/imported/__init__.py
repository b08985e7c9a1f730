# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge import` and `mpigauge ref`: the numbers of others as runs."""

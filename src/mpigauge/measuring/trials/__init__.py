# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tests hosts, MPIs and kinds of memory before anything is measured."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What others measured: their programs' text, and published tables, as records like ours."""

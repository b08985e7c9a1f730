# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The files that the profiler writes for each rank, and the names of their call sites."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Plans of computing benchmarks: threads, compilers and BLAS libraries."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes kernels, translations and programs for an MPI."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Installs MPIs and CUDA libraries from wheels."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The structure of a machine, its caches, cores, cards and GPUs."""

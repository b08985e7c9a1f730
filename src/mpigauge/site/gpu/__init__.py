# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""NVIDIA GPUs: which ones a job may use, which rank gets which, and the driver's library."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles of applications: what the profiler's library wrote, read, joined, given names."""

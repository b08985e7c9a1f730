# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles in run folders: ours, and those that other profilers reported."""

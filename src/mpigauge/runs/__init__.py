# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Stored data: run folders, and numbers that other programs have printed."""

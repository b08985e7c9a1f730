# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Measures candidates and settings of messages, tests them, and confirms those that are faster."""

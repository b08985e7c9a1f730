# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is stored: run folders, and the numbers that other programs have printed."""

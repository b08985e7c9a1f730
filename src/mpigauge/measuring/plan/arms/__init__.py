# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The arms of a plan file: settings that are varied, and conditions on them."""

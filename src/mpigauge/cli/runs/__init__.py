# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Stored runs for commands: kinds, and how they are shown, compared and set down."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tests on much data: recorded samples replayed, texts damaged at random, whole runs drawn."""

from tests.bare_machine import empty_root, machine_with_nothing

__all__ = ["empty_root", "machine_with_nothing"]

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Unit tests: functions of values, in one process."""

from tests.bare_machine import empty_root, machine_with_nothing

__all__ = ["empty_root", "machine_with_nothing"]

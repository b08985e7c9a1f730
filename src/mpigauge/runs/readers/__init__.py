# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Imports of other programs' output, and of published tables, as records."""

from mpigauge.runs.readers.registry import READERS, Reader, sniff
from mpigauge.runs.readers.text import Text

__all__ = ["READERS", "Reader", "Text", "sniff"]

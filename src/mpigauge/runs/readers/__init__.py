# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What others measured: their programs' text, and published tables, as records like ours."""

from mpigauge.runs.readers.registry import READERS, Reader, sniff
from mpigauge.runs.readers.text import Text

__all__ = ["READERS", "Reader", "Text", "sniff"]

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What others measured: their programs' text, and published tables, as records like ours."""

from mpigauge.readers.registry import READERS, Reader, sniff
from mpigauge.readers.text import Text

__all__ = ["READERS", "Reader", "Text", "sniff"]

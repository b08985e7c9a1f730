# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shows results and computes none: formats/ holds a file for each word of --format."""

from mpigauge.report.document import Document, document

__all__ = ["Document", "document"]

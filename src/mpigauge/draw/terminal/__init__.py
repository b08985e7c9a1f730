# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pictures in a terminal, and as plain text in a pipe."""

from mpigauge.draw.terminal.picture import lines

__all__ = ["lines"]

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The command line. A command is a file in commands/; what it needs is loaded when it runs."""

from __future__ import annotations

import sys

try:
    from mpigauge.cli.main import main
except KeyboardInterrupt:  # a Ctrl-C that comes before there is anybody to take it
    sys.stderr.write("mpigauge: interrupted; nothing was measured\n")
    raise SystemExit(2) from None

__all__ = ["main"]

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The command line. A command is a file in commands/; what it needs is loaded when it runs."""

from __future__ import annotations

from mpigauge.cli.main import main

__all__ = ["main"]

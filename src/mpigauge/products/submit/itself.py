# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The command that starts this mpigauge again, in a job or on another host that sees its files."""

from __future__ import annotations

import sys
from pathlib import Path

import mpigauge


def own_words() -> tuple[str, ...]:
    """This Python, and the folder of a bundle or what to import; or the program of both."""
    packages = Path(mpigauge.__file__).resolve().parents[1]
    if (packages / "__main__.py").is_file():
        return (sys.executable, str(packages))
    script = Path(sys.executable).with_name("mpigauge")
    if script.exists():
        return (str(script),)
    return (sys.executable, "-c", "from mpigauge.cli import main; main()")

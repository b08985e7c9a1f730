# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Names in commands that a message recommends, so that they can be pasted into a shell."""

from __future__ import annotations

import shlex
from pathlib import PurePath


def as_word(name: str | PurePath) -> str:
    """The name of a file or run as one word of a shell, which is no option."""
    word = str(name)
    if word.startswith("-"):
        word = f"./{word}"
    return shlex.quote(word)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The script of a job: its resources, and the command as one would type it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from mpigauge.model.errors import UserError
from mpigauge.model.width import one_line
from mpigauge.site.batch.system import System, Wish

WIDTH = 90


def script(
    system: System, wish: Wish, words: Sequence[str], folder: str, env: Mapping[str, str]
) -> str:
    """Returns the script. `folder`: the working directory; `env`: variables beyond the job's
    environment.

    UserError: a word for the batch system would be several lines of the script.
    """
    lines = [
        "#!/bin/sh",
        *map(_checked, system.head(wish)),
        "",
        f"cd {shlex.quote(folder)} || exit 1",
        *(f"export {name}={shlex.quote(value)}" for name, value in sorted(env.items())),
        "# exec: so that the batch system's signals reach mpigauge, which then ends in good order",
        f"exec {_folded(words)}",
    ]
    return "\n".join(lines) + "\n"


def _checked(line: str) -> str:
    if one_line(line) != line:
        raise UserError(f"{one_line(line)!r}: a line of a job script cannot hold an end of line")
    return line


def _folded(words: Sequence[str]) -> str:
    """Joins the words, on as many lines as necessary."""
    lines = [""]
    for word in map(shlex.quote, words):
        if lines[-1] and len(lines[-1]) + len(word) > WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n  ".join(lines)

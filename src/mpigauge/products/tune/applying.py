# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Starts a program with the rules of a tuning."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from mpigauge.cli.output import tell
from mpigauge.model.errors import UserError
from mpigauge.runs.store.tunings import variables_of
from mpigauge.session.tuned import check_line
from mpigauge.site.launch.left_session import remove_left_session

if TYPE_CHECKING:
    from mpigauge.runs.store.tunings import Tuning


def start(folder: Path, tuning: Tuning, words: Sequence[str]) -> NoReturn:
    """Replaces this process by a program with the rules, which keeps its exit status and signals.
    UserError: it cannot be started, or the MPI is no longer the one that was tuned."""
    check_line(tuning, words, os.environ)
    program = shutil.which(words[0])
    if program is None:
        raise UserError(f"there is no program '{words[0]}' to start")
    variables = variables_of(folder, tuning)
    if not variables:
        tell(f"{folder} has no rule: the program starts as it would without it")
    env = {**os.environ, **variables}
    remove_left_session(os.getpid(), env)
    os.execve(program, list(words), env)

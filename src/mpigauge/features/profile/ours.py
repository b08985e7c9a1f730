# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A program that we launch ourselves, with the profiler before all else that its ranks load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.cli.program import launch_of
from mpigauge.features.profile.launching import FOLDER_VARIABLE, Start
from mpigauge.site.launch.lines.preload import PRELOAD

if TYPE_CHECKING:
    from mpigauge.cli.targets import Setup


def started_by_us(
    words: Sequence[str], setup: Setup, variables: Mapping[str, str], here: Mapping[str, str]
) -> Start:
    """The program on the ranks that were asked for. UserError: it cannot run on this MPI."""
    folder = variables.get(FOLDER_VARIABLE, "")
    others = {name: value for name, value in variables.items() if name != PRELOAD}
    found = launch_of(words, setup, here, folder, others, (Path(variables[PRELOAD]),))
    return Start(
        found.command.words,
        {**here, **found.command.env},
        (tuple(words),),
        found.hosts,
        (found.way.summary, *found.way.notes) if found.way.is_special else (),
        found.command.files,
    )

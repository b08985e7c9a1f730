# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Launches a program with mpigauge, with the profiler preloaded in its ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.products.profile.launch.launching import FOLDER_VARIABLE, Start
from mpigauge.products.profile.launch.preload import PRELOAD
from mpigauge.session.program import launch_of

if TYPE_CHECKING:
    from mpigauge.session.targets import Setup


def started_by_us(
    words: Sequence[str], setup: Setup, variables: Mapping[str, str], here: Mapping[str, str]
) -> Start:
    """Returns the start of a program on the requested ranks. UserError: it cannot use this MPI."""
    folder = variables.get(FOLDER_VARIABLE, "")
    others = {name: value for name, value in variables.items() if name != PRELOAD}
    launch = launch_of(words, setup, here, folder, others, (Path(variables[PRELOAD]),))
    return Start(
        launch.command.words,
        {**here, **launch.command.env},
        (tuple(words),),
        launch.hosts,
        (launch.way.summary, *launch.way.notes) if launch.way.is_special else (),
        launch.command.files,
    )

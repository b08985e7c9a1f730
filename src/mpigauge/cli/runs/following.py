# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Follows a run that is measured elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.measuring.campaign import View
    from mpigauge.runs.store import Run

EVERY_S = 1.0
"""The usual time between two looks at its files, in seconds."""
LOOKS = 2
"""A run is there for a moment before its process holds it, and after it has let go of it."""


def followed(folder: Path, every: float = EVERY_S) -> bool:
    """Shows a run until it has ended. False: Ctrl-C ended that."""
    from mpigauge.cli.output import screen
    from mpigauge.measuring import live

    view = live.view(screen())
    try:
        follow(folder, view, every)
    except KeyboardInterrupt:
        return False
    finally:
        view.close()
    return True


def check_ended(folder: Path) -> None:
    """RunError: the process that measured the run was killed."""
    from mpigauge.model.errors import RunError
    from mpigauge.model.typed import as_word
    from mpigauge.runs.store import load

    if not load(folder).status:
        raise RunError(
            f"the process that measured {folder} was killed; `mpigauge resume {as_word(folder)}` "
            "goes on"
        )


def follow(folder: Path, view: View, every: float) -> None:
    """Shows it until it has ended, or has no process any more; launches that end meanwhile are told
    one by one."""
    from mpigauge.runs.store import load
    from mpigauge.session.watching import is_abandoned

    shown = abandoned = 0
    while abandoned < LOOKS:
        stored = load(folder)
        shown = _tell(stored, view, shown)
        if stored.status:
            return
        abandoned = abandoned + 1 if is_abandoned(stored) else 0
        time.sleep(every)


def _tell(stored: Run, view: View, shown: int) -> int:
    from mpigauge.session.watching import state_of

    state = state_of(stored)
    outcomes = state.outcomes
    for number in range(shown, len(outcomes)):
        state.outcomes = outcomes[: number + 1]
        state.launch = outcomes[number].launch
        view.launch_ended(state, outcomes[number])
    state.launch = max((launch.launch for launch in stored.launches), default=0)
    view.show(state)
    return len(outcomes)

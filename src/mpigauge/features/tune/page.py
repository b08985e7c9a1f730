# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a tuning's report is made of: the run that shows most of it, and what it says first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mpigauge.features.tune.show import lines_of
from mpigauge.model.errors import UserError
from mpigauge.runs.store.tunings import RUNS, load_tuning

_SHOWN = ("confirm", "grid")
"""Runs of a tuning, the best first: rules against the default, else all candidates."""


@dataclass(frozen=True)
class TuningPage:
    run: Path
    told: Sequence[str]
    """A sentence for each rule, then what stays at the default and why."""


def page_of(folder: Path) -> TuningPage:
    """UserError: the tuning is damaged, or its runs have been taken away."""
    _, *told = filter(None, lines_of(load_tuning(folder)))
    for name in _SHOWN:
        run = folder / RUNS / name
        if (run / "run.json").is_file():
            return TuningPage(run, told)
    raise UserError(
        f"{folder} has no run {' or '.join(_SHOWN)} below {RUNS}, of which a report could be made; "
        f"`mpigauge tune show {folder}` prints what the tuning says"
    )

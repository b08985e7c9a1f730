# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Builds the report of a tuning: its most informative run, headed by its sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.cli.runs.reporting import shown_of
from mpigauge.model.errors import UserError
from mpigauge.model.typed import as_word
from mpigauge.model.units import listed
from mpigauge.products.tune.show.text import lines_of
from mpigauge.runs.store.tunings import RUNS, load_tuning
from mpigauge.show.web.report import report

if TYPE_CHECKING:
    from mpigauge.result.finding import Explanation
    from mpigauge.result.run_view import RunView

_SHOWN = ("confirm", "p2p-confirm", "grid", "p2p-finalists")
"""The runs to show, best first: the chosen settings against the default, else all candidates."""


@dataclass(frozen=True)
class ShownTuning:
    run: Path
    sentences: Sequence[str]
    """A sentence for each rule, then what stays at the default and why."""


def page_of(
    folder: Path,
    explain: Callable[[RunView], Explanation],
    limits_of: str | None = None,
    home: str = "",
) -> str:
    """Returns the page, with a link back to `home`. UserError: the tuning is damaged, or its runs
    are gone."""
    tuning = shown_tuning(folder)
    (shown,) = shown_of([str(tuning.run)], limits_of)
    named = replace(shown, name=folder.name)
    return report([named], explain(named.view), sentences=tuning.sentences, home=home)


def shown_tuning(folder: Path) -> ShownTuning:
    """Returns the run to show and the sentences. UserError: damaged, or all runs are gone."""
    _, *sentences = filter(None, lines_of(load_tuning(folder)))
    for name in _SHOWN:
        run = folder / RUNS / name
        if (run / "run.json").is_file():
            return ShownTuning(run, sentences)
    raise UserError(
        f"{folder} has no run {listed(_SHOWN, 'or')} below {RUNS}, of which a report could be "
        f"made; `mpigauge tune show {as_word(folder)}` prints the tuning"
    )

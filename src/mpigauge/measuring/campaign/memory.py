# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads the history of a machine for a run, and adds the run to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.result.stats.history import between, remember
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.runs.store import history
from mpigauge.runs.store.reader import check_schema, passport_of

if TYPE_CHECKING:
    from mpigauge.model.between import Remembered
    from mpigauge.model.row import Row
    from mpigauge.runs.store import Run, RunWriter
    from mpigauge.runs.store.history import HistoryKey


class Memory:
    """The history of one run. If it is switched off, nothing is read or written."""

    def __init__(self, folder: Path) -> None:
        header = check_schema(folder)
        self._root = history.folder()
        self._place = history.place_of(header, passport_of(folder))
        self.conditions = history.conditions_of(header)
        self._when, self._name = str(header.get("created", "")), history.name_of_run(header)
        plan = header.get("plan")
        is_classic = isinstance(plan, dict) and plan.get("mode") == "classic"
        self.earlier = () if is_classic else self._earlier()

    def _earlier(self) -> tuple[Remembered, ...]:
        """The earlier runs, without the run itself or later ones, which may exist for a resumed
        run."""
        if self._root is None or self._place is None:
            return ()
        runs = history.read(self._root, self._place)
        return tuple(run for run in runs if run.when <= self._when and run.name != self._name)

    def end(self, writer: RunWriter, rows: Sequence[Row]) -> None:
        """Writes the used history into the run, and the run into the history. RunError: the run's
        own folder cannot be written."""
        if not rows:
            return
        scatter = between(rows, self.earlier, self.conditions)
        if self._root is None or self._place is None:
            writer.write_between(replace(scatter, cells={}))
            return
        writer.write_between(replace(scatter, remark=self._keep(self._root, self._place, rows)))

    def _keep(self, root: Path, place: HistoryKey, rows: Sequence[Row]) -> str:
        """Adds the run to the history. Returns the problem; empty: it succeeded, or no cell is
        worth it."""
        run = remember(rows, self.earlier, self.conditions, self._when, self._name)
        try:
            if run.cells:
                history.add(root, place, run)
        except OSError as error:
            return (
                "this run cannot be remembered in the folder of the history "
                f"({error.strerror or 'it cannot be written'}); {history.SWITCH} names another, or "
                "is off"
            )
        return ""


def rebuild(root: Path, runs: Iterable[Run]) -> list[Run]:
    """Adds stored runs to the history, oldest first, as if they had been measured with it; returns
    those that were added. OSError: a file of the history cannot be written."""
    kept: list[Run] = []
    for run in sorted(runs, key=lambda run: str(run.header.get("created", ""))):
        place = history.place_of(run.header, run.passport)
        if place is None:
            continue
        when, name = str(run.header.get("created", "")), history.name_of_run(run.header)
        earlier = []
        for each in history.read(root, place):
            if each.when <= when and each.name != name:
                earlier.append(each)
        conditions = history.conditions_of(run.header)
        entry = remember(rows_of(run.cells), earlier, conditions, when, name)
        if entry.cells:
            history.add(root, place, entry)
            kept.append(run)
    return kept

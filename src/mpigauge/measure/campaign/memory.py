# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the earlier runs of a machine tell a run, and what it leaves to later ones."""

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
    """What one run remembers. With the history switched off it knows nothing and leaves nothing."""

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
        """Never the run itself or later ones, which a resumed run may find."""
        if self._root is None or self._place is None:
            return ()
        known = history.read(self._root, self._place)
        return tuple(run for run in known if run.when <= self._when and run.name != self._name)

    def end(self, writer: RunWriter, rows: Sequence[Row]) -> None:
        """Writes what was used into the run, and the run into the history. RunError: the run's
        own folder cannot be written."""
        if not rows:
            return
        found = between(rows, self.earlier, self.conditions)
        if self._root is None or self._place is None:
            writer.write_between(replace(found, cells={}))
            return
        writer.write_between(replace(found, remark=self._keep(self._root, self._place, rows)))

    def _keep(self, root: Path, place: HistoryKey, rows: Sequence[Row]) -> str:
        """Why that was not possible; empty: it was, or there is nothing worth it."""
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
    """Remembers stored runs, oldest first, each as if it had been measured with the history on;
    says which were worth it. OSError: a file of the history cannot be written."""
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
        found = remember(rows_of(run.cells), earlier, conditions, when, name)
        if found.cells:
            history.add(root, place, found)
            kept.append(run)
    return kept

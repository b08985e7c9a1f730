# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A stored run, what it is held against, and what is measured again before it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import RunError, UserError

if TYPE_CHECKING:
    from mpigauge.features.check.result import CheckLine, CheckResult
    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Figure
    from mpigauge.runs.store import Run

LinesAndNotes = tuple["list[CheckLine]", "list[str]"]
"""Lines, and sentences about what was not checked."""


@dataclass(frozen=True)
class LimitsBaseline:
    """Holds a run against the limits in a file."""

    text: str
    file: str
    points: bool
    """Whether numbers of few launches are judged by their values alone."""

    def check(self, run: Run) -> LinesAndNotes:
        from mpigauge.cli.comparing import items_of
        from mpigauge.features.check.limits import parse_limits
        from mpigauge.features.check.result import against_limits

        limits = parse_limits(self.text, self.file, run.cards.names())
        return against_limits(items_of(run), limits, self.points), []


@dataclass(frozen=True)
class RunBaseline:
    """Holds a run against another one."""

    reference: Run
    tolerance: float
    only: Mapping[str, str]
    """Values of columns: numbers with others are left out."""
    points: bool

    def check(self, run: Run) -> LinesAndNotes:
        from mpigauge.cli.comparing import sides_of
        from mpigauge.features.check.result import against_reference
        from mpigauge.result.compare.only import only

        first, second = only(sides_of([self.reference, run]), self.only)
        return against_reference(first, second, self.tolerance, self.points)


Baseline = LimitsBaseline | RunBaseline


def check_against(
    word: str, tolerance: str | None, chosen: Sequence[str] = (), points: bool = False
) -> Baseline:
    """What a run is held against: limits (a file called *.toml) or another run. `points`: numbers
    of few launches are judged by their values alone."""
    from mpigauge.cli.comparing import share_of
    from mpigauge.cli.run_names import open_run
    from mpigauge.model.inputs import read_text
    from mpigauge.result.compare.only import read_only

    if Path(word).suffix == ".toml":
        if tolerance is not None or chosen:
            raise UserError(f"--tolerance and --only are about another run; say both in {word}")
        return LimitsBaseline(read_text(Path(word)), word, points)
    return RunBaseline(open_run(word), share_of(tolerance), read_only(chosen), points)


def check_all(
    run: Run, against: Baseline | None, points: bool = False, guidelines: bool = False
) -> CheckResult:
    """Everything that a run is checked for; `guidelines`: each collective against others that can
    take its place, too. UserError: there is nothing, or it was imported, is of
    one launch, and nobody said that its numbers are to be judged by their values."""
    from mpigauge.cli.comparing import items_of
    from mpigauge.features.check.guidelines import against_guidelines
    from mpigauge.features.check.result import CheckResult, only_points, right_data
    from mpigauge.result.stats.remarks import noise_sentences

    lines, notes = against.check(run) if against else ([], [])
    if only_points(lines) and not points:
        raise UserError(
            f"{run.path} was imported and has one launch of each number that is to be checked, "
            "so no interval is known; say --points to judge them by their values alone"
        )
    if guidelines:
        found, more = against_guidelines(items_of(run))
        lines, notes = [*lines, *found], [*notes, *more]
    lines = [*right_data(items_of(run)), *lines, *_peers(run)]
    if not lines:
        hint = (
            "; ".join(notes)
            or "it has no pairs of ranks and their peers; say --against what, or --guidelines"
        )
        raise UserError(f"there is nothing to check in {run.path}: {hint}")
    return CheckResult(tuple(lines), (*notes, *noise_sentences(run.noise)))


def again(run: Run, checked: CheckResult, against: Baseline | None) -> CheckResult:
    """The result when what failed was measured once more, with a sentence about that."""
    from mpigauge.cli.remeasure import measured_again
    from mpigauge.features.check.result import once_more

    failed = [line for line in checked.lines if line.outcome == "FAIL"]
    if not failed:
        return checked
    numbers = _numbers(failed)
    if not numbers:
        return checked.noting(
            "not measured again: what failed is not a number of its own, or data were wrong"
        )
    try:
        later = measured_again(run, numbers, None)
    except (UserError, RunError) as error:
        return checked.noting(f"not measured again: {error}")
    found, _ = against.check(later) if against else ([], [])
    lines = tuple(once_more(checked.lines, found))
    return replace(checked, lines=lines).noting(f"measured again in {later.path}")


def _numbers(failed: Sequence[CheckLine]) -> list[Cell | Figure]:
    """Those that can be measured again; wrong data stay wrong."""
    found: list[Cell | Figure] = []
    for item in filter(None, (line.item for line in failed)):
        if item.figure:
            found.append(item.figure)
        elif item.row and not item.row.wrong_count:
            found.append(item.row.cell)
    return found


def _peers(run: Run) -> list[CheckLine]:
    from mpigauge.features.check.peers import against_peers
    from mpigauge.model.units import byte_count
    from mpigauge.result.document import document

    pairs = document(run).pairs
    if pairs is None:
        return []
    lines: list[CheckLine] = []
    for sheet in pairs.sheets:
        name = f"{sheet.benchmark} {byte_count(sheet.message_bytes)}"
        lines += against_peers(name, sheet.clusters, pairs.name)
    return lines

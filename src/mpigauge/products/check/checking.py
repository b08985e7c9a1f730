# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks a stored run against a baseline, and measures failed numbers again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.cli.output.terminal import TERMINAL
from mpigauge.cli.runs.comparing import items_of, share_of, sides_of
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.inputs import read_text
from mpigauge.model.units import byte_count
from mpigauge.products.check.guidelines import against_guidelines
from mpigauge.products.check.limits import parse_limits
from mpigauge.products.check.peers import against_peers, hosts_against_peers
from mpigauge.products.check.result import (
    CheckResult,
    against_limits,
    against_reference,
    once_more,
    only_points,
    right_data,
)
from mpigauge.result.compare.match.only import read_only
from mpigauge.result.document import document
from mpigauge.result.stats.remarks import noise_sentences
from mpigauge.session.remeasure import measured_again
from mpigauge.session.run_names import open_run

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Figure
    from mpigauge.products.check.result import CheckLine
    from mpigauge.runs.store import Run

LinesAndNotes = tuple["list[CheckLine]", "list[str]"]
"""The lines, and sentences about what was not checked."""


@dataclass(frozen=True)
class LimitsBaseline:
    """The limits in a file, against which a run is checked."""

    text: str
    file: str
    points: bool
    """True if numbers with too few launches for an interval are judged by their values alone."""

    def check(self, run: Run) -> LinesAndNotes:
        limits = parse_limits(self.text, self.file, run.cards.names())
        return against_limits(items_of(run), limits, self.points), []


@dataclass(frozen=True)
class RunBaseline:
    """The run against which another run is checked."""

    reference: Run
    tolerance: float
    only: Mapping[str, Sequence[str]]
    """The values of columns that numbers must have to be compared."""
    points: bool

    def check(self, run: Run) -> LinesAndNotes:
        from mpigauge.result.compare.match.only import only

        first, second = only(sides_of([self.reference, run]), self.only)
        return against_reference(first, second, self.tolerance, self.points)


Baseline = LimitsBaseline | RunBaseline


def check_against(
    word: str, tolerance: str | None, chosen: Sequence[str] = (), points: bool = False
) -> Baseline:
    """Returns the baseline that `word` names: limits (a file called *.toml) or another run.
    `points`: numbers of few launches are judged by their values alone."""
    if Path(word).suffix == ".toml":
        if tolerance is not None or chosen:
            raise UserError(f"--tolerance and --only are for another run; give both in {word}")
        return LimitsBaseline(read_text(Path(word)), word, points)
    return RunBaseline(open_run(word), share_of(tolerance), read_only(chosen), points)


def check_all(
    run: Run, against: Baseline | None, points: bool = False, guidelines: bool = False
) -> CheckResult:
    """Checks a run against the baseline, for wrong data and for pairs slower than their peers;
    `guidelines`: also each collective against others that can replace it. UserError: there is
    nothing to check, or all numbers are imported, of one launch each, and `points` is false."""
    lines, notes = against.check(run) if against else ([], [])
    if only_points(lines) and not points:
        raise UserError(
            f"{run.path} was imported and has one launch of each number that is to be checked, "
            "so it has no interval; give --points to judge them by their values alone"
        )
    if guidelines:
        guideline_lines, guideline_notes = against_guidelines(items_of(run))
        lines, notes = [*lines, *guideline_lines], [*notes, *guideline_notes]
    lines = [*right_data(items_of(run)), *lines, *_peers(run)]
    if not lines:
        hint = (
            "; ".join(notes)
            or "it has no ranks or hosts with peers; give --against RUN or --guidelines"
        )
        raise UserError(f"there is nothing to check in {run.path}: {hint}")
    return CheckResult(tuple(lines), (*notes, *noise_sentences(run.noise)))


def again(run: Run, checked: CheckResult, against: Baseline | None) -> CheckResult:
    """Measures failed numbers once more; returns the new result with a note about it."""
    failed = [line for line in checked.lines if line.outcome == "FAIL"]
    if not failed:
        return checked
    numbers = _numbers(failed)
    if not numbers:
        return checked.noting(
            "not measured again: what failed is not a number of its own, or data were wrong"
        )
    try:
        later = measured_again(run, numbers, None, TERMINAL)
    except (UserError, RunError) as error:
        return checked.noting(f"not measured again: {error}")
    new_lines, _ = against.check(later) if against else ([], [])
    lines = tuple(once_more(checked.lines, new_lines))
    return replace(checked, lines=lines).noting(f"measured again in {later.path}")


def _numbers(failed: Sequence[CheckLine]) -> list[Cell | Figure]:
    """Returns the failed numbers that can be measured again: all but rows with wrong data."""
    numbers: list[Cell | Figure] = []
    for item in filter(None, (line.item for line in failed)):
        if item.figure:
            numbers.append(item.figure)
        elif item.row and not item.row.wrong_count:
            numbers.append(item.row.cell)
    return numbers


def _peers(run: Run) -> list[CheckLine]:
    shown = document(run)
    lines = list(hosts_against_peers(run, shown.rows))
    pairs = shown.pairs
    if pairs is None:
        return lines
    for sheet in pairs.sheets:
        name = f"{sheet.benchmark} {byte_count(sheet.message_bytes)}"
        lines += against_peers(name, sheet.clusters, pairs.name)
    return lines

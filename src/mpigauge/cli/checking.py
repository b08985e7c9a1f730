# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A stored run, what it is held against, and what is measured again before it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import RunError, UserError

if TYPE_CHECKING:
    from mpigauge.analyse.check import Line
    from mpigauge.model.columns import Cell
    from mpigauge.store import Run

Found = tuple["list[Line]", "list[str]"]
"""Lines, and sentences about what was not checked."""
Check = Callable[["Run"], Found]


def check_against(word: str, tolerance: str | None, open_run: Callable[[str], Run]) -> Check:
    """What holds a run against limits (a file called *.toml) or against another run."""
    from mpigauge.plan.words import parse_share
    from mpigauge.stats.verdicts import TOLERANCE

    if Path(word).suffix == ".toml":
        if tolerance is not None:
            raise UserError(f'--tolerance is for another run; in {word} write tolerance = "5%"')
        text = _text(Path(word))
        return lambda run: _limits(run, text, word)
    reference = open_run(word)
    share = parse_share("--tolerance", tolerance) if tolerance else TOLERANCE
    return lambda run: _reference(run, reference, share)


def check_all(run: Run, check: Check | None) -> Found:
    """Everything that a run is checked for. UserError: there is nothing."""
    from mpigauge.analyse.check import right_data
    from mpigauge.cli.comparing import items_of

    lines, notes = check(run) if check else ([], [])
    lines = [*right_data(items_of(run)), *lines, *_peers(run)]
    if not lines:
        hint = "; ".join(notes) or "it has no pairs of ranks and their peers; say --against what"
        raise UserError(f"there is nothing to check in {run.path}: {hint}")
    return lines, notes


def again(run: Run, lines: Sequence[Line], check: Check | None) -> Found:
    """The lines when what failed was measured once more, and a sentence about that."""
    from mpigauge.analyse.check import once_more
    from mpigauge.cli.again import measured_again

    failed = [line for line in lines if line.outcome == "FAIL"]
    cells = _cells(failed)
    if not cells:
        why = "not measured again: what failed is no time, or its data were wrong"
        return list(lines), [why] if failed else []
    try:
        later = measured_again(run, cells, None)
    except (UserError, RunError) as error:
        return list(lines), [f"not measured again: {error}"]
    found, _ = check(later) if check else ([], [])
    return once_more(lines, found), [f"measured again in {later.path}"]


def _cells(failed: Sequence[Line]) -> list[Cell]:
    """Those that can be measured again; wrong data stay wrong."""
    rows = [line.item.row for line in failed if line.item]
    return [row.cell for row in rows if row and not row.wrong_count]


def _limits(run: Run, text: str, file: str) -> Found:
    from mpigauge.analyse.check import against_limits
    from mpigauge.analyse.limits import parse_limits
    from mpigauge.cli.comparing import items_of

    return against_limits(items_of(run), parse_limits(text, file, run.cards.names())), []


def _reference(run: Run, reference: Run, tolerance: float) -> Found:
    from mpigauge.analyse.check import against_reference
    from mpigauge.cli.comparing import sides_of

    first, second = sides_of([reference, run])
    return against_reference(first, second, tolerance)


def _peers(run: Run) -> list[Line]:
    from mpigauge.analyse.peers import against_peers
    from mpigauge.model.units import byte_count
    from mpigauge.report import document

    pairs = document(run).pairs
    if pairs is None:
        return []
    return [
        line
        for sheet in pairs.sheets
        for line in against_peers(
            f"{sheet.benchmark} {byte_count(sheet.message_bytes)}", sheet.clusters, pairs.name
        )
    ]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UserError(f"cannot read {path}: {reason}") from None

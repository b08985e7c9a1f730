# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Stored maps of so many pairs that a row for each would take seconds and much memory.

Only what a map shows is read of every pair. The pairs that stand out, or else the slowest, become
rows, so that everything else that is shown of a run is shown of these.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.cards import benchmark_word
from mpigauge.model.row import Estimate
from mpigauge.result.document import Remarked, document
from mpigauge.result.pairs import PairLatency, is_map, levels_of, map_of, seats_of
from mpigauge.runs.store import load
from mpigauge.runs.store.header import is_plan
from mpigauge.runs.store.pair_times import read_pairs
from mpigauge.runs.store.reader import between_of, check_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from mpigauge.model.columns import Cell
    from mpigauge.result.document import Document
    from mpigauge.result.pairs import PairMap, PairsOfSheet
    from mpigauge.runs.store import Run
    from mpigauge.runs.store.pair_times import PairTime, PairTimes, StoredPairs

LARGE_BYTES = 4_000_000
"""The size of some 2500 records; reading more one by one takes longer than drawing them."""
DETAILED_ROWS = 64
"""Rows of a large map that are shown as those of a small one."""


class LargeMap(NamedTuple):
    run: Run
    """The map with the records of the pairs that stand out."""
    document: Document
    """The map with all pairs."""


def load_map(path: Path, rows: int = 0) -> LargeMap | None:
    """The large map in this folder, so many of its pairs as records.

    None: it holds none, or launches that are not whole, or several times of a pair, whose
    statistics need their rows. UserError: it cannot be read.
    """
    if not _is_large_map(path):
        return None
    stored = read_pairs(path / "records.jsonl")
    if stored is None or not _is_simple(path, stored.kinds):
        return None
    run = load(path, lines=dict.fromkeys(stored.others))
    if run.damaged or len(run.complete) < len(run.launches):
        return None
    pairs = map_of(sheets_of(stored.kinds), seats_of(run.ranks), levels_of(run))
    if pairs is None:
        return None
    if rows:
        run = _part(path, stored, pairs, rows)
    remarked = _remarked(stored.kinds, run.launches[0].precision)
    return LargeMap(run, document(run, pairs=pairs, remarked=remarked))


def load_run(path: Path) -> Run:
    """The run in this folder; of a large map only the pairs that stand out are records."""
    large = load_map(path, DETAILED_ROWS)
    return load(path) if large is None else large.run


def _part(path: Path, stored: StoredPairs, pairs: PairMap, rows: int) -> Run:
    chosen = dict(
        sorted((dict.fromkeys(stored.others) | _chosen(stored.kinds, pairs, rows)).items())
    )
    part = load(path, lines=chosen)
    whole = sum(len(kind.times) for kind in stored.kinds)
    words = (
        f"{len(part.cells)} of {whole} rows are examined closely: the outliers, then "
        "the slowest; `mpigauge export csv RUN` writes all"
    )
    return replace(part, part=words)


def _is_large_map(path: Path) -> bool:
    try:
        if (path / "records.jsonl").stat().st_size <= LARGE_BYTES:
            return False
    except OSError:
        return False
    plan = check_schema(path).get("plan")
    return is_plan(plan) and is_map(plan)


def _is_simple(path: Path, kinds: Sequence[PairTimes]) -> bool:
    """True if each row is of one launch, and nothing is known of it from earlier runs."""
    between, _ = between_of(path)
    if between and between.cells:
        return False
    keys = {replace(kind.shared, members="").key for kind in kinds}
    pairs = [{time[:2] for time in kind.times} for kind in kinds]
    once = all(len(of) == len(kind.times) for of, kind in zip(pairs, kinds, strict=True))
    return once and len(keys) == len(kinds)


def sheets_of(kinds: Iterable[PairTimes]) -> dict[tuple[str, int], PairsOfSheet]:
    sheets: dict[tuple[str, int], PairsOfSheet] = {}
    for kind in kinds:
        cell = kind.shared
        sheet = sheets.setdefault((_benchmark(cell), cell.message_bytes), {})
        scale = cell.time_scale
        for each in kind.times:
            latency = Estimate(each.time_s * scale, each.low_s * scale, each.high_s * scale)
            measured = sheet.setdefault((each.first, each.second), [])
            measured.append((cell.groups, PairLatency(latency)))
    return sheets


def _benchmark(cell: Cell) -> str:
    return benchmark_word(cell.suite, cell.benchmark)


def _remarked(kinds: Iterable[PairTimes], precision: float | None) -> list[Remarked]:
    """The part of each row that sentences about a run need; rows that are alike share it."""
    remarked = []
    for kind in kinds:
        cell = kind.shared
        judged = precision if cell.mode != "classic" else None
        shared: dict[tuple[tuple[str, ...], int], Remarked] = {}
        for each in kind.times:
            flags = each.flags if judged is None else _judged(each, judged)
            one = shared.get((flags, each.wrong_count))
            if one is None:
                one = Remarked(
                    _benchmark(cell), cell.ranks, cell.message_bytes, flags, each.wrong_count
                )
                shared[flags, each.wrong_count] = one
            remarked.append(one)
    return remarked


def _judged(time: PairTime, precision: float) -> tuple[str, ...]:
    """The flags that stats.launches gives a row: "unconverged" is a flag of the whole row."""
    flags = time.flags
    if flags:
        flags = tuple(flag for flag in flags if flag != "unconverged")
    error = max(time.high_s - time.time_s, time.time_s - time.low_s)
    if not error <= precision * time.time_s:
        return (*flags, "unconverged")
    return flags


def _chosen(kinds: Iterable[PairTimes], pairs: PairMap, rows: int) -> dict[int, list[int]]:
    """The lines of so many pairs, with their places in these: those that stand out, then the
    slowest."""
    odd = {
        (sheet.benchmark, sheet.message_bytes, *each.pair[:2])
        for sheet in pairs.sheets
        for each in sheet.odd
    }
    ordered = []
    for kind in kinds:
        of = (_benchmark(kind.shared), kind.shared.message_bytes)
        usual = sum(time.time_s for time in kind.times) / len(kind.times)
        for time in kind.times:
            is_calm = (*of, time.first, time.second) not in odd
            ordered.append((is_calm, -time.time_s / usual, time.line, time.place))
    chosen: dict[int, list[int]] = {}
    for _, _, line, place in sorted(ordered)[:rows]:
        chosen.setdefault(line, []).append(place)
    return chosen

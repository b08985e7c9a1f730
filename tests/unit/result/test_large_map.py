# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Large maps: they are shown as small ones are, without a row for each of their pairs."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.output.showing import show_run
from mpigauge.cli.runs.reporting import shown_of
from mpigauge.model.row import Row
from mpigauge.products.explain.registry import explained
from mpigauge.result import large_map
from mpigauge.result.document import document
from mpigauge.result.stats import headline as headlines
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.runs.store import load
from mpigauge.runs.store.pair_times import read_pairs
from mpigauge.show.formats import FORMATS, render
from mpigauge.show.kinds import MANY_ROWS
from mpigauge.show.web.report import report
from tests import large_map as planted_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

RANKS = 12
SLOW = {(2, 7): 3.0}


@pytest.fixture
def every_map_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_map, "LARGE_BYTES", 0)


def changed(folder: Path, change: Callable[[dict[str, Any]], Iterator[dict[str, Any]]]) -> Path:
    """The run, with other records in place of each cell's."""
    file = folder / "records.jsonl"
    lines = []
    for line in file.read_text().splitlines():
        record = json.loads(line)
        found = change(record) if record["record"] == "cell" else [record]
        lines += [json.dumps(each, separators=(",", ":")) for each in found]
    file.write_text("\n".join([*lines, ""]))
    return folder


def suspicious(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Some pairs too widely known, or by their launch alone, some with wrong data, some measured
    once more, alone."""
    if cell["members"] == "0,1":
        yield cell | {"flags": ["drift", "tainted"], "ci_high_s": 2 * cell["time_p50_s"]}
    elif cell["members"] == "3,4":
        yield cell | {"wrong_count": 5, "ci_low_s": None, "ci_high_s": None}
    elif cell["members"] == "5,6":
        yield cell | {"flags": ["unconverged", "drift"]}
    else:
        yield cell
    if cell["members"] == "2,7":
        yield cell | {"groups": 1, "time_p50_s": 0.9 * cell["time_p50_s"]}


@pytest.mark.parametrize("form", [name for name, each in FORMATS.items() if each.only_pairs])
@pytest.mark.parametrize("change", [None, suspicious])
def test_a_large_map_is_shown_as_a_small_one(
    tmp_path: Path,
    every_map_is_large: None,  # noqa: ARG001
    form: str,
    change: Callable[[dict[str, Any]], Iterator[dict[str, Any]]] | None,
) -> None:
    path = planted_map.store(tmp_path / "map", RANKS, slow=SLOW)
    if change:
        changed(path, change)
    found = large_map.load_map(path)
    assert found is not None
    assert not found.document.rows
    small = document(load(path))
    assert render(form, found.document) == render(form, small)
    assert found.document.sentences == small.sentences
    assert bool(small.sentences) == bool(change)
    assert Counter(row.flags for row in found.document.flagged) == Counter(
        row.flags for row in small.flagged
    )


def twice(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield cell
    yield cell | {"launch": 1}


def remembered_again(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield cell
    yield cell


def measured_again(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield cell
    yield cell | {"time_p50_s": 1.01 * cell["time_p50_s"]}


def not_a_pair(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield cell | {"members": ""}


def in_another_order(cell: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"record": "cell"} | dict(reversed(cell.items()))


@pytest.mark.parametrize(
    "change", [twice, remembered_again, measured_again, not_a_pair, in_another_order]
)
def test_what_needs_its_rows_is_left_to_them(
    tmp_path: Path,
    every_map_is_large: None,  # noqa: ARG001
    change: Callable[[dict[str, Any]], Iterator[dict[str, Any]]],
) -> None:
    path = changed(planted_map.store(tmp_path / "map", RANKS), change)
    assert large_map.load_map(path) is None
    document(load(path))


def test_a_damaged_line_is_left_to_who_names_it(
    tmp_path: Path,
    every_map_is_large: None,  # noqa: ARG001
) -> None:
    path = planted_map.store(tmp_path / "map", RANKS)
    with (path / "records.jsonl").open("a") as file:
        file.write('{"record":"cell","launch":0,"suite":"MPI1","bench')
    assert large_map.load_map(path) is None
    assert "is left out" in load(path).damaged[0]


def test_values_are_not_taken_for_names(tmp_path: Path) -> None:
    """A value that looks like the name of a column is escaped, and not found."""
    path = planted_map.store(tmp_path / "map", RANKS)
    evil = '"time_p50_s":1,"flags":["x"],"members":"5,6"'
    changed(path, lambda cell: iter([cell | {"directory": evil, "variant": evil}]))
    found = read_pairs(path / "records.jsonl")
    assert found is not None
    first, second = found.kinds
    assert [time[:2] for time in first.times] == list(combinations(range(RANKS), 2))
    cells = {(cell.message_bytes, cell.members): cell for cell in load(path).cells}
    for kind in (first, second):
        for time in kind.times:
            cell = cells[kind.shared.message_bytes, f"{time.first},{time.second}"]
            assert time[2:6] == (cell.time_p50_s, cell.ci_low_s, cell.ci_high_s, ())


def test_of_a_map_nothing_is_fitted_over_all_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = planted_map.store(tmp_path / "map", 4, sizes=(8, 64, 512, 4096))
    rows = rows_of(load(path).cells, 0.05)
    fitted: list[int] = []
    monkeypatch.setattr(headlines, "fit", lambda points: fitted.append(len(points)))
    monkeypatch.setattr(headlines, "in_two_ranges", lambda points: fitted.append(len(points)))
    headlines.headline(rows)
    assert set(fitted) == {0}
    headlines.headline([row for row in rows if row.cell.members == "0,1"])
    assert max(fitted) == 4


def test_256_ranks_are_shown_and_reported_without_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = planted_map.store(tmp_path / "map", 256, sizes=(8,), slow={(3, 77): 2.0})
    made: list[Row] = []
    monkeypatch.setattr(Row, "__post_init__", made.append, raising=False)
    show_run(str(path), None)
    assert not made
    shown = " ".join(capsys.readouterr().out.split())
    assert "slow: n0:3 with n0:77 (ranks 3 and 77) takes 2.00 × as long" in shown
    result = shown_of([str(path)])
    explanation = explained(result[0].view)
    assert "n0:3" in explanation.findings[0].what
    page = report(result, explanation)
    assert len(made) <= 2 * large_map.DETAILED_ROWS
    assert f"{large_map.DETAILED_ROWS} of 32640 rows are examined closely" in page
    assert f"the table holds the {MANY_ROWS} slowest of 32640 pairs" in page
    assert len(re.findall("<title>", page)) < 2 * 96 * 96

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rows of one text with the same key: launches below a new heading, else kept and reported."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.model.record import Figure
from mpigauge.runs.readers import READERS, Reader, Text, sniff
from mpigauge.runs.readers.imb_columns import Shape, fixed
from mpigauge.runs.readers.known import known_cards
from mpigauge.runs.readers.reading import Reading, TextTable, unknown_launch
from mpigauge.runs.readers.references import names, reference
from mpigauge.runs.readers.registry import reader
from mpigauge.runs.readers.repeated import row_keys, with_each_row_kept

if TYPE_CHECKING:
    from collections.abc import Hashable

    from mpigauge.model.columns import Cell

PRINTED = Path(__file__).parents[3] / "golden/printed"
TEXTS = sorted(PRINTED.glob("*.txt"))


def cells(reading: Reading) -> list[Cell]:
    return [cell for table in reading.tables for cell in table.cells()]


def assert_each_key_once(reading: Reading) -> None:
    """A launch may state a figure twice, but not with two values."""
    keys = Counter((cell.launch, cell.key) for cell in cells(reading))
    assert {key: count for key, count in keys.items() if count > 1} == {}
    stated = set(reading.figures)
    assert len(stated) == len({replace(figure, value=0.0) for figure in stated})


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_no_launch_of_a_text_that_comes_twice_has_a_key_twice(path: Path) -> None:
    """The second copy has other numbers: the last digit of each is one more."""
    once = path.read_bytes()
    again = re.sub(rb"(?<=\.)(\d*)(\d)", lambda m: m[1] + b"%d" % ((int(m[2]) + 1) % 10), once)
    for of in sniff(Text(once)):
        first, both = of.read(Text(once)), of.read(Text(once + again))
        assert_each_key_once(both)
        assert both.rows + len(both.unread) >= 2 * first.rows


@pytest.mark.parametrize("name", names())
def test_no_launch_of_a_reference_has_a_key_twice(name: str) -> None:
    assert_each_key_once(reference(name).reading)


def test_a_reader_that_counts_no_launches_loses_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is that of the registry, so that it holds for every reader there will be."""
    card = known_cards().find("PingPong")
    shared = fixed(card, 0, Shape(2)) | {"source": "X"}
    rows = [{"message_bytes": size, "time_p50_s": time} for size, time in ((1, 1), (2, 2), (1, 3))]

    def read(text: Text) -> Reading:
        assert text.raw
        table = TextTable.of_rows(shared, rows)
        first = Figure(0, "X", "speed", 1.0, "", "", origin="imported")
        return Reading(
            tables=(table, TextTable.of_rows(shared, rows[:1])),
            figures=(first, replace(first, value=2.0), first, replace(first, value=2.0)),
            launches=(unknown_launch(0, world_ranks=2),),
        )

    added: dict[str, Reader] = {}
    monkeypatch.setattr(READERS, "add", added.__setitem__)
    reader("planted", "", b"")(read)
    reading = added["planted"].read(Text(b"x"))
    assert_each_key_once(reading)
    found = sorted((c.launch, c.message_bytes, c.time_p50_s) for c in cells(reading))
    assert found == [(0, 1, 1), (0, 2, 2), (1, 1, 3), (2, 1, 1)]
    assert [(f.launch, f.value) for f in reading.figures] == [(0, 1), (1, 2), (0, 1), (1, 2)]
    assert [launch.world_ranks for launch in reading.launches] == [2, 2, 2]
    (remark,) = reading.remarks
    assert remark.startswith("the text prints PingPong of 1 B, X speed again without a new heading")
    assert remark.endswith(": 3 rows kept as further launches")


def planted_table(launch: int, *sizes: int, benchmark: str = "PingPong") -> TextTable:
    rows = [{"message_bytes": size, "time_p50_s": 1.0} for size in sizes]
    return TextTable.of_rows({"launch": launch, "benchmark": benchmark}, rows)


def test_keys_of_rows_are_the_same_in_each_launch() -> None:
    def keys(launch: int, size: int, name: str) -> set[Hashable]:
        figure = Figure(launch, "X", name, 1.0, "", "", origin="imported")
        return row_keys(Reading(tables=(planted_table(launch, size),), figures=(figure,)))

    assert len(keys(0, 8, "speed")) == 2
    assert keys(0, 8, "speed") == keys(3, 8, "speed")
    assert len(keys(0, 8, "speed") & keys(0, 8, "memory")) == 1
    assert len(keys(0, 8, "speed") & keys(0, 16, "speed")) == 1


@pytest.mark.parametrize(("is_distinct", "rows"), [(True, 2), (False, 1)])
def test_columns_are_not_made_where_no_row_can_repeat_another(is_distinct: bool, rows: int) -> None:
    def columns() -> dict[str, list[float]]:
        raise AssertionError("columns were made")

    about = {"launch": 0, "benchmark": "PingPong"}
    reading = Reading(tables=(TextTable(about, rows, columns, is_distinct),))
    assert with_each_row_kept(reading) is reading


@pytest.mark.parametrize(
    ("table", "name"),
    [
        (planted_table(0, 0, 0), "PingPong of 0 B"),
        (planted_table(0, 1024, 1024), "PingPong of 1 KiB"),
        (planted_table(0, -1, -1, benchmark="Barrier"), "Barrier"),
        (TextTable({"launch": 0, "benchmark": "Barrier"}, 2, lambda: {"calls": [1, 2]}), "Barrier"),
    ],
)
def test_the_remark_on_repeats_names_the_size_of_a_row(table: TextTable, name: str) -> None:
    (remark,) = with_each_row_kept(Reading(tables=(table,))).remarks
    assert remark.startswith(f"the text prints {name} again without")
    assert remark.endswith(": 1 row kept as further launches")


def test_the_columns_of_a_table_are_the_union_over_its_rows() -> None:
    rows = [{"calls": 1}, {"calls": 2, "wrong_count": 3}, {"samples": 4}]
    table = TextTable.of_rows({}, rows)
    assert table.varying == {"calls": [1, 2, 0], "wrong_count": [0, 3, 0], "samples": [1, 1, 4]}

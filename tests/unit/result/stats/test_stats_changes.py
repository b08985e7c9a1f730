# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Whether a machine changed while it was measured."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.document import document
from mpigauge.result.stats.changes import change
from mpigauge.result.stats.launches import rows
from mpigauge.result.stats.remarks import change_sentence, sentences
from mpigauge.runs.store import load
from tests import cells, runs

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.model.row import Row

SIZES = (0, 8, 512, 4096, 65536)


def measured(
    launches: int, changed_at: int | None, factor: float = 1.2, seed: int = 1
) -> list[Row]:
    """Five cells whose launches scatter by 3 %, all of them slower from one launch on."""
    random = Random(seed)
    return rows(
        [
            cells.cell(
                message_bytes=size,
                launch=number,
                time_p50_s=1e-6
                * (factor if changed_at is not None and number >= changed_at else 1.0)
                * math.exp(random.gauss(0, 0.03)),
            )
            for number in range(launches)
            for size in SIZES
        ],
        0.05,
    )


@pytest.mark.parametrize(("launches", "place"), [(17, 6), (10, 6), (20, 14), (14, 3)])
def test_a_change_is_found_where_it_was(launches: int, place: int) -> None:
    found = change(measured(launches, place))
    assert found is not None
    assert found.launch == found.before == place
    assert found.after == launches - place
    assert found.ratio == pytest.approx(1.2, rel=0.05)


def test_what_each_side_knows_is_said() -> None:
    """Six launches knew it to a few percent, and eleven more made it worse."""
    found = change(measured(17, 6, 1.4))
    assert found is not None
    whole = min(row.relative_error for row in measured(17, 6, 1.4))
    assert found.error_before < 0.1 < whole
    text = change_sentence(found, {6: "2026-11-21T05:00:12Z"})
    assert "from launch 7 of 17 on (2026-11-21T05:00:12Z) calls took 1.39" in text
    assert "launches before it (6) agree to ±" in text
    assert "those after it (11) agree to ±" in text


def test_steady_machines_seldom_seem_to_change() -> None:
    claimed = sum(change(measured(14, None, seed=seed)) is not None for seed in range(60))
    assert claimed <= 2
    assert change(measured(6, 3, 2.0)) is None
    assert change(measured(17, 6, 1.03)) is None


@pytest.mark.parametrize(("launches", "place"), [(30, 2), (30, 28), (17, 1), (17, 16)])
def test_two_launches_are_no_side(launches: int, place: int) -> None:
    """However much slower: what a few launches met was a disturbance."""
    found = change(measured(launches, place, 3.0))
    assert found is None or 3 <= found.before <= launches - 3


@pytest.mark.parametrize(("factor", "is_change"), [(1.049, False), (1.051, True), (0.949, True)])
def test_a_change_is_five_percent(factor: float, is_change: bool) -> None:
    """Of launches that hardly scatter."""
    steady = [
        cells.cell(launch=n, time_p50_s=1e-6 * (factor if n >= 7 else 1.0) * (1 + n % 3 / 1e5))
        for n in range(14)
    ]
    found = change(rows(steady))
    assert (found is not None) == is_change
    assert found is None or (found.before, found.after, found.cells) == (7, 7, 1)


def test_tables_of_others_are_of_no_machine_that_changes() -> None:
    """Files that are imported together may be of two machines."""
    ours = measured(17, 6, 1.4)
    theirs = [replace(row, cell=replace(row.cell, origin="imported")) for row in ours]
    assert change(ours)
    assert change(theirs) is None


def test_no_more_launches_are_promised_to_help(tmp_path: Path) -> None:
    lines = [runs.launch(n, f"2026-11-21T05:00:{n:02d}Z", precision=0.05) for n in range(17)]
    for row in measured(17, 6, 1.4):
        lines += [
            runs.cell(number, message_bytes=row.message_bytes, time_p50_s=value)
            for number, value in zip(row.numbers, row.values_s, strict=True)
        ]
    said = document(load(runs.write(tmp_path / "run", lines))).sentences
    assert any("from launch 7 of 17 on (2026-11-21T05:00:06Z)" in each for each in said)
    (unconverged,) = [each for each in said if each.startswith("unconverged")]
    assert "since the machine changed meanwhile" in unconverged
    assert "more time" not in unconverged
    assert any(
        "more time (--time) or launches help" in each for each in sentences(measured(8, 4, 3.0))
    )

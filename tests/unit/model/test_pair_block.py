# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One record for all pairs of a round: it holds what a record for each pair would hold."""

from __future__ import annotations

import base64
import json
import re
import struct
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from mpigauge.model import record
from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.pair_block import (
    MOST_RANKS_IN_DETAIL,
    cells_of,
    check,
    pairs_of_round,
    spread,
)
from mpigauge.runs.store import RunWriter, load
from tests import cells

PAIRS = [(0, 3), (1, 2)]
TIMES = {"time_p50_s": [1e-6, 3e-6], "ci_low_s": [0.9e-6, 2.9e-6], "ci_high_s": [1.1e-6, 3.1e-6]}


def block(**changed: Any) -> dict[str, Any]:
    """The block of two pairs whose cells differ in their times."""
    fields = cells.fields(groups=2)
    key = {name: fields.pop(name) for name in KEY_COLUMNS}
    shared = {name: value for name, value in fields.items() if name not in TIMES}
    return {
        "launch": 0,
        "round": 4,
        "key": key,
        "pairs": [rank for pair in PAIRS for rank in pair],
        "shared": shared,
        "columns": dict(TIMES),
    } | changed


def read(**changed: Any) -> record.PairBlock:
    made = record.parse(cells.line("pairs", **block(**changed)))
    assert isinstance(made, record.PairBlock)
    return made


def one_by_one() -> list[record.CellRecord]:
    """The records that hold the same pairs, one each."""
    made = []
    for number, (first, second) in enumerate(PAIRS):
        own: dict[str, Any] = {name: values[number] for name, values in TIMES.items()}
        place = {"groups": 2, "group": number, "members": f"{first},{second}"}
        line = cells.line("cell", **(cells.fields() | own | place))
        cell = record.parse(line)
        assert isinstance(cell, record.CellRecord)
        made.append(cell)
    return made


def test_a_block_holds_the_cells_of_its_pairs() -> None:
    assert cells_of(read()) == one_by_one()


def test_packed_times_are_those_of_a_list() -> None:
    packed = {n: base64.b64encode(struct.pack("<2f", *v)).decode() for n, v in TIMES.items()}
    for listed, short in zip(one_by_one(), cells_of(read(columns=packed)), strict=True):
        assert short.cell.key == listed.cell.key
        for name in TIMES:
            assert getattr(short.cell, name) == pytest.approx(getattr(listed.cell, name), rel=1e-7)


def test_a_few_other_values_stand_by_their_number() -> None:
    columns = TIMES | {"flags": {"1": ["drift"]}}
    assert [each.cell.flags for each in cells_of(read(columns=columns))] == [(), ("drift",)]


def test_columns_that_were_not_kept_are_unknown() -> None:
    columns = {name: TIMES[name] for name in ("time_p50_s",)}
    shared = {"time_scale": 0.5, "stop": "time"}
    for each in cells_of(read(shared=shared, columns=columns)):
        assert each.cell.stop == "time"
        assert each.cell.ci_low_s != each.cell.ci_low_s  # NaN


@pytest.mark.parametrize(
    "wrong",
    [
        {"pairs": [0, 3, 1]},
        {"columns": TIMES | {"time_p50_s": [1e-6]}},
        {"columns": TIMES | {"time_p50_s": "AAAA"}},
        {"columns": TIMES | {"flags": {"1": []}}, "shared": {}},
        {"pairing": "spiral"},
        {"raw": [{"hz": 1e9, "chunks": []}]},
    ],
)
def test_a_damaged_block_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="pairs"):
        check(read(**wrong))


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8, 64])
def test_rounds_of_a_tournament_have_every_pair_once(ranks: int) -> None:
    rounds = [pairs_of_round(number, ranks) for number in range(ranks - 1 + ranks % 2)]
    assert all(len({r for pair in pairs for r in pair}) == 2 * len(pairs) for pairs in rounds)
    assert sorted(pair for pairs in rounds for pair in pairs) == [*combinations(range(ranks), 2)]


def test_pairs_follow_from_their_schedule() -> None:
    cells_ = cells_of(read(pairs=[], pairing="all", world_ranks=4, round=0))
    assert [each.cell.members for each in cells_] == ["0,3", "1,2"]


def test_a_block_is_stored_and_read_as_its_cells(tmp_path: Path) -> None:
    raw = [cells.raw([[10, 12], [11, 13]]), cells.raw([[30]])]
    header = {"plan": {"benchmarks": ["PingPong"]}, "mpi": {"name": "mpich"}}
    with RunWriter.create(header, cells.cards_text(), output=tmp_path / "run") as writer:
        writer.append(cells.line("launch", **cells.LAUNCH))
        writer.append(cells.line("pairs", **block(raw=raw)))
        end = json.loads(cells.end()) | {"records": 2}
        writer.append(json.dumps(end))
        writer.finish("done")
    stored = load(tmp_path / "run")
    assert not stored.damaged
    assert stored.cells == [each.cell for each in one_by_one()]
    ticks = [
        stored.ticks(each.raw)[0].tolist() for each in stored.of(record.CellRecord) if each.raw
    ]
    assert ticks == [[10, 12, 11, 13], [30]]
    assert "ticks" not in (tmp_path / "run" / "records.jsonl").read_text()


def test_a_damaged_block_is_reported(tmp_path: Path) -> None:
    header = {"plan": {"benchmarks": ["PingPong"]}, "mpi": {"name": "mpich"}}
    with RunWriter.create(header, cells.cards_text(), output=tmp_path / "run") as writer:
        assert writer.append(cells.line("pairs", **block(pairs=[0]))) is None
        writer.finish("done")
    with (tmp_path / "run" / "records.jsonl").open("a") as file:
        file.write(cells.line("pairs", **block(pairs=[0, 1])) + "\n")
    assert "values of time_p50_s for 1 pairs" in "".join(load(tmp_path / "run").damaged)


def test_other_records_are_spread_as_they_are() -> None:
    (end,) = spread([record.decode(cells.end())])
    assert isinstance(end, record.End)


def test_the_campaign_adds_the_placement_of_each_pair() -> None:
    line = cells.line("pairs", **block())
    known = record.with_known(line, {"arm": "A=1"}, {"1,2": "l3"})
    made = record.parse(known)
    assert isinstance(made, record.PairBlock)
    found = [(each.cell.placement, each.cell.arm) for each in cells_of(made)]
    assert found == [("", "A=1"), ("l3", "A=1")]


DRIVER = Path(__file__).parents[3] / "kernels" / "driver"


def test_kernels_have_a_number_for_each_flag_of_a_row() -> None:
    """Rows of pairs travel with flags as bits."""
    raised = set()
    for file in (
        DRIVER / "adaptive.cpp",
        DRIVER / "session.cpp",
        DRIVER.parent / "core/sampling.cpp",
    ):
        raised |= set(re.findall(r'flags\.emplace_back\("([a-z-]+)"\)', file.read_text()))
    table = (DRIVER / "pair_rows.cpp").read_text().partition("flag_names{")[2].partition("}")[0]
    assert raised == set(re.findall(r'"([a-z-]+)"', table))


def test_kernels_write_every_column_of_as_many_ranks_as_readers_expect() -> None:
    header = (DRIVER / "pair_rows.hpp").read_text()
    assert f"most_ranks_in_detail = {MOST_RANKS_IN_DETAIL};" in header

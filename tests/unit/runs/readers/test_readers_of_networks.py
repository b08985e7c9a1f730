# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Readers of programs that load a whole network: GPCNeT, mpiGraph, HP2P.

Their texts in tests/golden/printed have the formats of the programs, with numbers made for tests.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.result.pairs import Sheet, stored_map
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.runs.readers import READERS, Text
from mpigauge.runs.store import load
from mpigauge.runs.store.imported import write_imported

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.runs.readers.reading import Reading

PRINTED = Path(__file__).parents[3] / "golden/printed"
MIB = 2**20


def text_of(name: str) -> str:
    return (PRINTED / f"{name}.txt").read_text(encoding="utf-8")


def read(name: str, text: str) -> Reading:
    return READERS.find(name).read(Text(text.encode()))


def cells(reading: Reading) -> list[Cell]:
    return [cell for table in reading.tables for cell in table.cells()]


def cell_of(reading: Reading, name: str, launch: int, arm: str = "") -> Cell:
    (cell,) = (
        cell
        for cell in cells(reading)
        if (cell.benchmark, cell.launch, cell.arm) == (name, launch, arm)
    )
    return cell


# --- GPCNeT
def test_gpcnet_rows_have_seconds_and_their_99th_percentile() -> None:
    reading = read("gpcnet", text_of("gpcnet"))
    assert not reading.unread
    latency = cell_of(reading, "RR_Two_sided_Lat", 0)
    assert (latency.message_bytes, latency.ranks, latency.source) == (8, 96, "GPCNeT 1.3")
    assert latency.time_p50_s == pytest.approx(2.1e-6)
    assert latency.time_p99_s == pytest.approx(3.4e-6)
    rate = cell_of(reading, "RR_Put_BW", 0)
    assert rate.moved_bytes / rate.time_p50_s == pytest.approx(1322.7 * MIB)
    assert rate.moved_bytes / rate.time_p99_s == pytest.approx(871.9 * MIB)


def test_gpcnet_rows_beside_congestors_are_set_beside_the_others() -> None:
    reading = read("gpcnet", text_of("gpcnet"))
    alone, beside = (cell_of(reading, "Multiple_Allreduce", 1, arm) for arm in ("", "congested"))
    assert beside.time_p50_s / alone.time_p50_s == pytest.approx(3)
    assert alone.ranks == beside.ranks == 24  # of 3 in 12 nodes
    impact = {(figure.name, figure.value, figure.unit) for figure in reading.figures}
    assert ("Multiple Allreduce (8 B), impact 99%", 16.0, "×") in impact
    assert len(impact) == 6
    assert [launch.world_ranks for launch in reading.launches] == [96, 96]


VERBOSE = """\
NetworkLoad Tests v1.3
  Test with 40 MPI ranks (10 nodes)

+---+
|   Isolated Congestion Tests   |
+---+
|  Name |  Min |  Max |  Avg |  Avg(Worst) |  99% |  99.9% |  Units |
|  Alltoall (4096 B) |  100.0 |  400.0 |  200.0 |  150.0 |  110.0 |  105.0 |  MiB/s/rank |
+---+
|   Network Tests running with Congestion Tests ( RR Two-sided Lat Network Test)   |
|  Name |  Min |  Max |  Avg |  Avg(Worst) |  99% |  99.9% |  Units |
|  RR Two-sided Lat (8 B) |  1.0 |  9.0 |  2.0 |  3.0 |  4.0 |  5.0 |  usec |
|  Put Incast (4096 B) |  10.0 |  40.0 |  20.0 |  15.0 |  11.0 |  10.5 |  MiB/s/rank |
|  RR Get Lat (8 B) |  1.0 |  9.0 |  2.0 |  3.0 |  4.0 |  5.0 |  ticks |
"""


def test_gpcnet_verbose() -> None:
    reading = read("gpcnet", VERBOSE)
    beside = "congested beside=RR_Two-sided_Lat"
    alone, latency, incast = cells(reading)
    assert (alone.benchmark, alone.arm) == ("congestor_Alltoall", "")
    assert (latency.benchmark, latency.arm) == ("RR_Two_sided_Lat", beside)
    assert (incast.benchmark, incast.arm) == ("congestor_Put_Incast", beside)
    assert alone.time_best_s == pytest.approx(4096 / (400 * MIB))
    assert alone.time_worst_s == pytest.approx(4096 / (100 * MIB))
    assert latency.time_worst_s == pytest.approx(9e-6)
    assert [unread.why for unread in reading.unread] == ["ticks is an unknown unit"]
    assert reading.remarks == (
        "GPCNeT: there is no place for the columns 99.9% and Avg(Worst); they are left out",
    )


# --- mpiGraph and HP2P
def test_mpigraph_has_each_direction_as_either_side_measured_it() -> None:
    reading = read("mpigraph", text_of("mpigraph"))
    assert not reading.unread
    names = ("Send_up", "Send_down", "Recv_up", "Recv_down")
    by_name: dict[str, list[Cell]] = {name: [] for name in names}
    for cell in cells(reading):
        by_name[cell.benchmark].append(cell)
    assert {name: len(of) for name, of in by_name.items()} == dict.fromkeys(by_name, 6)
    row = re.search(r"^n2:1 to\t(\S+)\t\S+\t(\S+)", text_of("mpigraph"), re.MULTILINE)
    assert row
    to_n1 = next(cell for cell in by_name["Send_down"] if cell.members == "0,1")
    to_n3 = next(cell for cell in by_name["Send_up"] if cell.members == "1,2")
    assert to_n1.moved_bytes / to_n1.time_p50_s == pytest.approx(float(row[1]) * MIB)
    assert to_n3.moved_bytes / to_n3.time_p50_s == pytest.approx(float(row[2]) * MIB)
    assert (to_n1.message_bytes, to_n1.inflight, to_n1.source) == (MIB, 10, "mpiGraph 1.5")
    row = re.search(r"^n2:1 from\t(\S+)", text_of("mpigraph"), re.MULTILINE)
    assert row
    from_n1 = next(cell for cell in by_name["Recv_up"] if cell.members == "0,1")
    assert from_n1.moved_bytes / from_n1.time_p50_s == pytest.approx(float(row[1]) * MIB)


@pytest.mark.parametrize(("name", "sheets"), [("mpigraph", 4), ("hp2p", 2)])
def test_a_matrix_is_stored_as_a_map_with_its_hosts(name: str, sheets: int, tmp_path: Path) -> None:
    reading = read(name, text_of(name))
    run = load(write_imported(reading, [f"{name}.txt"], tmp_path / name, ""))
    pairs = stored_map(run, rows_of(run.cells))
    assert pairs is not None
    assert [seat.host for seat in pairs.seats] == ["n1", "n2", "n3", "n4"]
    assert len(pairs.sheets) == sheets
    for sheet in pairs.sheets:
        assert len(sheet.rows) == 6
        assert not sheet.again
        slow = {
            pair for pair, row in sheet.rows.items() if row.latency.value > 1.5 * _fastest(sheet)
        }
        assert slow == {(0, 2), (1, 2), (2, 3)}


def _fastest(sheet: Sheet) -> float:
    return min(row.latency.value for row in sheet.rows.values())


def test_hp2p_figures_have_their_units() -> None:
    reading = read("hp2p", text_of("hp2p"))
    figures = {
        figure.name: (figure.value, figure.unit, figure.better) for figure in reading.figures
    }
    value, *unit = figures["Avg bandwidth"]
    assert value == pytest.approx(2050.25 * MIB / 1e6)
    assert unit == ["MB/s", "higher"]
    assert figures["Max latency"] == (950.87, "µs", "lower")
    assert figures["Std latency"] == (96.2, "µs", "")
    assert figures["Min bisection efficiency"] == (74.87, "%", "higher")
    assert len(figures) == 15
    assert {figure.arm for figure in reading.figures} == {"size=1048576"}
    assert len(cells(reading)) == 12
    assert not reading.unread


def test_pairs_without_a_bandwidth_are_named() -> None:
    text = text_of("mpigraph")
    row = re.search(r"^n2:1 to\t(\S+)", text, re.MULTILINE)
    assert row
    reading = read("mpigraph", text[: row.start(1)] + "0.000" + text[row.end(1) :])
    assert [unread.why for unread in reading.unread] == ["0.000 MB/s is no bandwidth (n1:0)"]
    assert reading.rows == read("mpigraph", text).rows - 1
    text = re.sub(r"^(\[    \[ 0\.000,) \S+,", r"\1 0.000,", text_of("hp2p"), flags=re.MULTILINE)
    reading = read("hp2p", text)
    assert [unread.why for unread in reading.unread] == ["n1 with n2 did not meet"]
    assert len(cells(reading)) == 11


@pytest.mark.parametrize(
    ("name", "damage", "why"),
    [
        ("mpigraph", (r"^MsgSize.*\n", ""), "the size of its messages is missing"),
        ("mpigraph", (r"^Send\tn1.*\n", ""), "the head of its matrix is missing"),
        ("mpigraph", (r"^n3:2 to", "n9:2 to"), "n9:2 is no column of its matrix"),
        ("mpigraph", (r"^(n3:2 to\t\S+)\t\S+", r"\1"), "it has 3 of 4 columns"),
        ("hp2p", (r'    "n4", ', ""), "the matrix has 4 of 3 rows"),
        ("hp2p", (r"^    1048576", ""), "the hosts or the size above its matrix are missing"),
    ],
)
def test_a_damaged_matrix_is_reported(name: str, damage: tuple[str, str], why: str) -> None:
    damaged = re.sub(*damage, text_of(name), flags=re.MULTILINE)
    reading = read(name, damaged)
    assert why in {unread.why for unread in reading.unread}
    assert reading.rows < read(name, text_of(name)).rows


def test_two_outputs_in_one_file_are_launches() -> None:
    for name in ("gpcnet", "mpigraph", "hp2p"):
        once = read(name, text_of(name))
        twice = read(name, text_of(name) * 2)
        assert twice.rows == 2 * once.rows
        assert twice.last_launch == 2 * once.last_launch + 1
        assert len(twice.ranks) == 2 * len(once.ranks)

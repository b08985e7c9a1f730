# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The reader of IPM's banner: of version 2 and of older ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.runs.readers import READERS, Text

if TYPE_CHECKING:
    from mpigauge.runs.readers.reading import Reading

PRINTED = Path(__file__).parents[1] / "golden/printed/ipm.txt"
HEAD = """##IPMv2.0.6########################################################
#
# command   : ./app -n 3
# start     : Wed Oct 20 01:21:47 2021   host      : amd01
# stop      : Wed Oct 20 01:22:02 2021   wallclock : 15.40
# mpi_tasks : {ranks} on 1 nodes              %comm     : 27.07
# mem [GB]  : 30.81                      gflop/sec : {speed}
#
#           :       [total]        <avg>          min          max
"""


def read(text: str) -> Reading:
    return READERS.find("ipm").read(Text(text.encode()))


def test_banners_of_one_file_are_launches() -> None:
    reading = read(PRINTED.read_text(encoding="utf-8"))
    assert [(launch.launch, launch.world_ranks, launch.time) for launch in reading.launches] == [
        (0, 64, "Wed Oct 20 01:21:47 2021"),
        (1, 4, "2010-04-30T13:09:19"),
    ]
    found = {(f.launch, f.name): (f.value, f.unit) for f in reading.figures}
    assert found[0, "time in MPI, sum of ranks"] == (266.51, "s")
    assert found[0, "time in MPI, most of ranks"] == (5.70, "s")
    assert found[0, "share of MPI, least of ranks"] == (15.11, "%")
    assert found[0, "calls of MPI, mean of ranks"] == (107685.0, "1")
    assert found[0, "memory, sum of ranks"] == (30.81, "GB")
    assert found[0, "time in MPI_Waitall"] == (87.18, "s")
    assert found[0, "calls of MPI_Isend"] == (3158262.0, "1")
    assert found[1, "time in MPI, sum of ranks"] == (0.99726, "s")
    assert found[1, "share of MPI_Send in wallclock"] == (7.37, "%")
    assert found[1, "user time, most of ranks"] == (1.8, "s")
    assert {(f.launch, f.benchmark, f.ranks, f.source) for f in reading.figures} == {
        (0, "simpleFoam", 64, "IPM 2.0.6"), (1, "a.out", 4, "IPM 0.982"),
    }  # fmt: skip
    assert not reading.unread


def test_the_heading_names_the_ranks_of_all_launches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert mpigauge(["import", str(PRINTED), "--output", str(folder)]) == 0
    assert "\n4 and 64 ranks\n" in capsys.readouterr().out


def test_regions_are_settings() -> None:
    row = "# wallclock :          8.00         4.00         3.00         5.00\n"
    rule = "#" * 67 + "\n"
    region = "# region    :'{name}'\n#           :       [total]        <avg>\n"
    text = HEAD.format(ranks=2, speed=0) + row + rule
    text += "".join(rule + region.format(name=name) + row + rule for name in ("solve", "write"))
    arms = [f.arm for f in read(text).figures if f.name == "wallclock, sum of ranks"]
    assert arms == ["", "region=solve", "region=write"]


@pytest.mark.parametrize(("speed", "values"), [("0.00", []), ("12.5", [12.5])])
def test_a_speed_that_was_not_counted_is_none(speed: str, values: list[float]) -> None:
    row = "# wallclock :          8.00         4.00         3.00         5.00\n"
    figures = read(HEAD.format(ranks=2, speed=speed) + row).figures
    assert [f.value for f in figures if f.name == "speed"] == values


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("# MPI       :        266.51         4.16", "it has not the numbers of such a row"),
        ("# MPI       :        266.51         4.16  -nan  5.7", "-nan is not a number"),
        ("# flux      :          1.00         1.00         1.00         1.00",
         "there is no place for this row"),
        ("#    [time]    [count]\n# MPI_Send      0.5", "it has not the numbers of a call"),
    ],
)  # fmt: skip
def test_rows_that_are_none_are_named(row: str, why: str) -> None:
    reading = read(HEAD.format(ranks=2, speed=0) + row + "\n")
    assert [(u.text, u.why) for u in reading.unread] == [(row.split("\n")[-1], why)]
    assert reading.rows == 0


def test_what_follows_a_banner_is_not_of_it() -> None:
    text = HEAD.format(ranks=2, speed=0) + "solver finished\n# MPI : 1 2 3 4\n# Size : 1 2 3 4\n"
    assert (read(text).rows, read(text).unread) == (0, ())

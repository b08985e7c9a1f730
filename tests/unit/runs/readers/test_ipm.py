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

PRINTED = Path(__file__).parents[3] / "golden/printed/ipm.txt"
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


def test_rows_of_a_banner_are_sum_mean_least_and_most() -> None:
    rows = (
        "# MPI       :          10.0          5.0          4.0          6.0\n"
        "# mem [GB]  :           3.0          1.5          1.0          2.0\n"
        "# %wall     :\n"
        "#   MPI     :                       25.0         20.0         30.0\n"
        "# #calls    :\n"
        "#   MPI     :            70           35           30           40\n"
        "# energy (j):           8.0          4.0          3.0          5.0\n"
        "# MPI       :          11.0          5.0          4.0          6.0\n"
    )
    figures = read(HEAD.format(ranks=2, speed=0) + rows).figures
    suffixes = (", sum of ranks", ", mean of ranks", ", least of ranks", ", most of ranks")

    def row(name: str, unit: str, better: str, *values: float) -> list[tuple[str, float, str, str]]:
        ends = suffixes[-len(values) :]
        return [(name + end, v, unit, better) for end, v in zip(ends, values, strict=True)]

    assert [(f.name, f.value, f.unit, f.better) for f in figures] == [
        *row("time in MPI", "s", "lower", 10, 5, 4, 6),
        *row("memory", "GB", "lower", 3, 1.5, 1, 2),
        *row("share of MPI", "%", "lower", 25, 20, 30),
        *row("calls of MPI", "1", "", 70, 35, 30, 40),
        *row("energy", "J", "lower", 8, 4, 3, 5),
        *row("time in MPI", "s", "lower", 11, 5, 4, 6),
    ]


@pytest.mark.parametrize("numbers", ["2.0   30   40.0", "2.0   30   75.0   40.0"])
def test_calls_have_their_share_of_the_wallclock_last(numbers: str) -> None:
    calls = f"#                [time]    [count]    <%wall>\n# MPI_Send     {numbers}\n"
    reading = read(HEAD.format(ranks=2, speed=0) + calls)
    assert [(f.name, f.value, f.unit, f.better) for f in reading.figures] == [
        ("time in MPI_Send", 2, "s", "lower"),
        ("calls of MPI_Send", 30, "1", ""),
        ("share of MPI_Send in wallclock", 40, "%", "lower"),
    ]
    assert reading.unread == ()


@pytest.mark.parametrize("numbers", ["2.0   30", "2.0   30   75.0   40.0   50.0"])
def test_a_call_has_three_numbers_or_four(numbers: str) -> None:
    calls = f"#                [time]    [count]    <%wall>\n# MPI_Send     {numbers}\n"
    assert read(HEAD.format(ranks=2, speed=0) + calls).figures == ()


def test_a_banner_takes_nothing_from_the_one_before_it() -> None:
    row = "# wallclock :          8.00         4.00         3.00         5.00\n"
    bare = "##IPMv0.983####\n#\n" + row
    first, second = read(HEAD.format(ranks=2, speed=0) + row + "\n" + bare).launches
    assert (first.launch, first.world_ranks, first.time) == (0, 2, "Wed Oct 20 01:21:47 2021")
    assert (second.launch, second.world_ranks, second.time) == (1, 0, "")
    figures = [
        f for f in read(HEAD.format(ranks=2, speed=0) + row + "\n" + bare).figures if f.launch
    ]
    assert {(f.benchmark, f.ranks, f.source, f.arm) for f in figures} == {
        ("application", 0, "IPM 0.983", "")
    }


def test_the_speed_is_that_of_the_heading() -> None:
    row = "# gflop/sec :         12.50         6.25         6.00         6.50\n"
    reading = read(HEAD.format(ranks=2, speed=12.5) + row)
    assert [(f.name, f.value, f.unit, f.better) for f in reading.figures] == [
        ("speed", 12.5, "GFLOP/s", "higher")
    ]
    assert reading.unread == ()


@pytest.mark.parametrize(
    ("command", "program"), [("/opt/app/solve", "solve"), ("solve", "solve"), ("app/", "app/")]
)
def test_the_program_is_named_without_its_folder(command: str, program: str) -> None:
    text = HEAD.format(ranks=2, speed=12.5).replace("./app", command)
    assert {f.benchmark for f in read(text).figures} == {program}

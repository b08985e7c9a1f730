# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The reader of BabelStream: its table, what --csv prints, and --triad-only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mpigauge.runs.readers import READERS, Text

if TYPE_CHECKING:
    from mpigauge.runs.readers.reading import Reading

PRINTED = Path(__file__).parents[3] / "golden/printed/babelstream.txt"
HEAD = "Function    {unit:<12}Min (sec)   Max         Average     \n"
ROW = "Copy        {rate:<12}0.00039     0.00044     0.00039     \n"
CSV = "function,num_times,n_elements,sizeof,{rate},min_runtime,max_runtime,avg_runtime{more}\n"
BANNER = "BabelStream\nVersion: 4.0\nImplementation: {name}\nPrecision: double\n"


def read(text: str) -> Reading:
    return READERS.find("babelstream").read(Text(text.encode()))


def test_runs_of_one_file_are_told_apart() -> None:
    """The second one, of --csv, has no banner, and takes nothing from the first."""
    reading = read(PRINTED.read_text(encoding="utf-8"))
    found = {(f.name, f.arm): (f.value, f.placement, f.source) for f in reading.figures}
    table = "array=268.4MB implementation=CUDA precision=double"
    device = "device NVIDIA A100-SXM4-40GB"
    assert found["Triad", table] == (1366095.332, device, "BabelStream 5.0")
    assert found["Init", table] == (1315850.9, device, "BabelStream 5.0")
    assert found["Dot", "array=268.4MB precision=double"] == (15118.9, "", "BabelStream")
    triad = found["Triad", "array=268.4MB implementation=OpenMP precision=double"]
    assert triad[0] == pytest.approx(11.902 * 2**30 / 1e6)
    assert {figure.launch for figure in reading.figures} == {0}
    assert {(figure.unit, figure.better) for figure in reading.figures} == {("MB/s", "higher")}
    assert (len(reading.figures), reading.unread, reading.remarks) == (15, (), ())


@pytest.mark.parametrize(("unit", "factor"), [("MBytes/sec", 1), ("MiBytes/sec", 1.048576)])
def test_the_unit_of_a_table_is_that_of_its_head(unit: str, factor: float) -> None:
    (figure,) = read(HEAD.format(unit=unit) + ROW.format(rate="1000.000")).figures
    assert figure.value == pytest.approx(1000 * factor, rel=1e-12)


@pytest.mark.parametrize(
    ("head", "factor"),
    [("max_mbytes_per_sec", 1), ("max_mibytes_per_sec", 1.048576), ("gbytes_per_sec", 1000),
     ("gibytes_per_sec", 1073.741824)],
)  # fmt: skip
def test_the_unit_of_lines_of_commas(head: str, factor: float) -> None:
    text = CSV.format(rate=head, more="") + "Triad,100,1024,4,2.5,0.1,0.1,0.1\n"
    (figure,) = read(text).figures
    assert figure.value == pytest.approx(2.5 * factor, rel=1e-12)
    assert figure.arm == "array=0.0MB precision=float"


def test_columns_that_somebody_added_tell_rows_apart() -> None:
    rows = "".join(f"Copy,100,1024,8,{n}.5,0.1,0.1,0.1,{n}\n" for n in (1, 2))
    reading = read(CSV.format(rate="max_mbytes_per_sec", more=",threads") + rows)
    arms = [(f.launch, f.arm.rpartition(" ")[2], f.value) for f in reading.figures]
    assert arms == [(0, "threads=1", 1.5), (0, "threads=2", 2.5)]


def test_the_same_run_again_is_the_next_launch() -> None:
    run = BANNER.format(name="OpenMP") + HEAD.format(unit="MBytes/sec") + ROW.format(rate="9.0")
    other = BANNER.format(name="Kokkos") + HEAD.format(unit="MBytes/sec") + ROW.format(rate="9.0")
    reading = read(run * 2 + other)
    assert [(f.launch, f.arm.split()[0]) for f in reading.figures] == [
        (0, "implementation=OpenMP"), (1, "implementation=OpenMP"), (0, "implementation=Kokkos"),
    ]  # fmt: skip


def test_settings_of_the_job_are_kept() -> None:
    run = BANNER.format(name="OpenMP") + HEAD.format(unit="MBytes/sec") + ROW.format(rate="9.0")
    reading = read(f"export OMP_NUM_THREADS=4\n{run}export OMP_NUM_THREADS=8\n{run}")
    assert [f.arm.split()[0] for f in reading.figures] == ["OMP_NUM_THREADS=4", "OMP_NUM_THREADS=8"]


def test_wrong_results_are_noted() -> None:
    wrong = "Validation failed on sum. Error 3.54711e-06\n"
    text = BANNER.format(name="CUDA") + wrong + HEAD.format(unit="MBytes/sec")
    reading = read(text + ROW.format(rate="9.0"))
    assert reading.remarks == (
        "BabelStream reports at line 5 that its result is wrong (sum. Error 3.54711e-06)",
    )


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (HEAD.format(unit="MBytes/sec") + "Copy   1.0  0.1\n", "it has 3 of 5 columns"),
        (HEAD.format(unit="MBytes/sec") + "Copy   1.0  0.1  0.1  0.1  0.1\n",
         "it has 6 of 5 columns"),
        (HEAD.format(unit="MBytes/sec") + "Copy   1.0  nan  0.1  0.1\n",
         "nan is not a number (Min (sec))"),
        (HEAD.format(unit="MBytes/sec") + "Copy   -inf  0.1  0.1  0.1\n",
         "-inf is not a number (rate)"),
        (HEAD.format(unit="MBytes/sec") + "Copy   100  0.1  0.1  x\n",
         "x is not a number (Average)"),
        (CSV.format(rate="max_mbytes_per_sec", more="") + "Copy,100,1,8\n",
         "it has 4 of 8 columns"),
        (CSV.format(rate="max_mbytes_per_sec", more="") + "Copy,100,1,8,inf,1,1,1\n",
         "inf is not a number (max_mbytes_per_sec)"),
        (CSV.format(rate="max_mbytes_per_sec", more="") + "4,100,1,8,9,1,1,1\n",
         "4 is not a name of a kernel"),
        ("function,mbytes_per_sec,gbytes_per_sec\n", "it has not one column with a rate"),
    ],
)  # fmt: skip
def test_lines_that_are_none_are_named(lines: str, why: str) -> None:
    reading = read(lines)
    assert [u.why for u in reading.unread] == [why]
    assert reading.rows == 0


@pytest.mark.parametrize(
    ("unit", "factor"),
    [("MB/s", 1), ("MiB/s", 1.048576), ("GB/s", 1000), ("GiB/s", 1073.741824)],
)
def test_the_unit_of_triad_alone(unit: str, factor: float) -> None:
    (figure,) = read(f"BabelStream\nBandwidth ({unit}):  2.5\n").figures
    assert figure.name == "Triad"
    assert figure.value == pytest.approx(2.5 * factor, rel=1e-12)


@pytest.mark.parametrize(("unit", "factor"), [("MB", 1), ("MiB", 1.048576)])
def test_arrays_and_phases_are_in_units_of_their_own(unit: str, factor: float) -> None:
    lines = f"Array size: 500.0 {unit} (=0.5 GB)\nInit: 0.25 s (=20.0 {unit[:-1]}Bytes/sec)\n"
    (figure,) = read(f"GPU-STREAM\nVersion: 3.1\n{lines}").figures
    assert figure.name == "Init"
    assert figure.value == pytest.approx(20 * factor, rel=1e-12)
    assert (figure.arm, figure.source) == (f"array={500 * factor:.1f}MB", "GPU-STREAM 3.1")


@pytest.mark.parametrize(
    ("size", "facts"),
    [("4", "array=12.0MB precision=float"), ("8", "array=24.0MB precision=double"), ("2", "")],
)
def test_lines_of_commas_tell_array_and_precision(size: str, facts: str) -> None:
    (figure,) = read(
        CSV.format(rate="max_mbytes_per_sec", more="") + f"Dot,100,3000000,{size},2.5,1,1,1\n"
    ).figures
    assert (figure.name, figure.value, figure.launch, figure.arm) == ("Dot", 2.5, 0, facts)


def test_phases_in_lines_of_commas_are_of_the_run_that_follows() -> None:
    phases = "phase,n_elements,sizeof,max_mbytes_per_sec,runtime\nInit,1000000,8,{init},0.1\n"
    kernels = CSV.format(rate="max_mbytes_per_sec", more="") + "Copy,9,1000000,8,{copy},1,1,1\n"
    text = "".join((phases + kernels).format(init=n, copy=10 * n) for n in (1, 2))
    reading = read(text)
    found = [(f.name, f.launch, f.value) for f in reading.figures]
    assert found == [("Init", 0, 1), ("Copy", 0, 10), ("Init", 1, 2), ("Copy", 1, 20)]
    assert {f.arm for f in reading.figures} == {"array=8.0MB precision=double"}
    assert [launch.launch for launch in reading.launches] == [0, 1]


def test_what_follows_the_table_is_of_the_next_run() -> None:
    device, table = "Using CUDA device {}\n", HEAD.format(unit="MBytes/sec")
    text = f"BabelStream\n{device.format('A')}{table}{ROW.format(rate='9.0')}\n{device.format('B')}"
    wrong = "Validation failed on c[]. Average error 1.5\n"
    reading = read(f"{text}{table}{ROW.format(rate='8.0')}{wrong}")
    assert [(f.placement, f.value) for f in reading.figures] == [("device A", 9), ("device B", 8)]
    assert reading.remarks == (
        "BabelStream reports at line 9 that its result is wrong (c[]. Average error 1.5)",
    )


def test_lines_before_the_table_are_no_rows() -> None:
    text = BANNER.format(name="CUDA") + "Run 3 of 5\n" + HEAD.format(unit="MBytes/sec")
    for before in ("Run 3 of 5\n", ""):
        reading = read(before + text + ROW.format(rate="9.0"))
        assert ([f.value for f in reading.figures], reading.unread) == ([9.0], ())

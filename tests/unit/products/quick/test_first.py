# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What quick says of a machine: how good it is for measuring, its limits, and what to do next."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from mpigauge.model.between import Between, Scatter, cell_name
from mpigauge.model.record import Record, Sampled
from mpigauge.model.width import WIDTH
from mpigauge.products.quick import show as first
from mpigauge.products.quick.fitness import Fitness, fitness
from mpigauge.products.quick.measuring import introduce
from mpigauge.products.quick.plan import BANDS, COLLECTIVES, PAIRS
from mpigauge.products.quick.present import present
from mpigauge.products.quick.result import machine_errors
from mpigauge.result.stats.launches import rows
from mpigauge.site import topology
from tests import cells, planted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.columns import Cell
    from mpigauge.runs.store import Run

CALM = Fitness(launches=6, scatter=0.004, lost=0.002, precise=57, cells=57)
LINES = 24
"""The lines of the smallest terminal."""


def launches(*factors: float, benchmark: str = "PingPong") -> list[Cell]:
    return [
        cells.cell(benchmark, launch=launch, message_bytes=8, time_p50_s=1e-6 * factor)
        for launch, factor in enumerate(factors)
    ]


@pytest.mark.parametrize(
    ("changed", "grade"),
    [
        ({}, "good"),
        ({"scatter": 0.05}, "fair"),
        ({"lost": 0.04}, "fair"),
        ({"scatter": 0.2}, "poor"),
        ({"lost": 0.3}, "poor"),
        ({"scatter": math.nan, "lost": math.nan}, "good"),
    ],
)
def test_grades(changed: dict[str, float], grade: str) -> None:
    found = replace(CALM, **changed)  # type: ignore[arg-type]
    assert found.grade == grade
    assert f"This machine is {grade} for measuring now: " in first.sentence(found, 0.05)


def test_launches_that_agree_and_those_that_do_not() -> None:
    """Of two cells the median; one launch of six that is three times as long moves nothing."""
    agree = rows(launches(1.0, 1.01, 0.99, 1.0, 1.01, 3.0))
    found = fitness(agree, (), 0.05)
    assert (found.launches, found.cells) == (6, 1)
    assert 0.005 < found.scatter < 0.02
    differ = rows(launches(1.0, 1.4, 0.7, 1.2, 0.9, 1.5, benchmark="Bcast"))
    assert fitness(differ, (), 0.05).scatter > 0.2
    assert math.isnan(fitness(rows(launches(1.0)), (), 0.05).scatter)


def test_what_others_take_is_that_of_the_worst_core_in_the_median() -> None:
    """A burst in one launch does not make a machine that others share."""
    noise = [planted.noise(lost, cpu) for cpu, lost in ((0, 0.001), (0, 0.9), (0, 0.002), (1, 0.0))]
    found = fitness((), noise, 0.05)
    assert found.lost == 0.002
    assert found.grade == "good"


def test_the_sentence_names_what_it_rests_on() -> None:
    assert first.sentence(CALM, 0.05) == (
        "This machine is good for measuring now: 6 launches differ by 0.4 %, others take 0.2 % of "
        "a core, 57 of 57 numbers within ±5 %."
    )
    alone = replace(CALM, launches=1, scatter=math.nan, lost=0.3)
    said = first.sentence(alone, 0.05)
    assert "how launches differ is not known from one" in said
    assert said.endswith("Close other programs, and measure again.")


def test_how_far_numbers_hold_at_other_times() -> None:
    """Of three numbers the middle and the widest; where no earlier run is known, nothing."""
    (row,) = rows(launches(1.0, 1.01, 0.99, 1.0, 1.01, 1.0))
    assert first.at_other_times(machine_errors([row])) == ""
    ends = [math.log(1 + error) for error in (0.02, 0.3, 0.1)]
    known = [replace(row, scatter=Scatter(end / 1.96, -end, end, 9)) for end in ends]
    assert first.at_other_times(machine_errors([*known, row])) == (
        "At other times: ±10 % for half of them, ±30 % for all."
    )


def whole(
    lost: float = 0.001, names: Sequence[str] = ("PingPong", "Allreduce"), **changed: object
) -> Run:
    """A small result of quick: pairs, a collective, the limits of the machine."""
    sizes = (0, 8, 4096, 1 << 20)
    measured = [
        cells.cell(
            name, launch=launch, message_bytes=n, moved_bytes=n, messages=1,
            time_p50_s=(2e-6 + 2e-10 * n) * (1 + launch / 1000), **changed,
        )
        for launch in range(6)
        for name in names
        for n in sizes[name not in PAIRS :]
    ]  # fmt: skip
    node = [
        cells.cell(name, suite="NODE", message_bytes=n, moved_bytes=max(n, 0), time_p50_s=time)
        for name, n, time in (
            ("Line", -1, 50e-9), ("Mailbox", -1, 100e-9), ("Copy_once", 1 << 20, 40e-6),
        )
    ]  # fmt: skip
    heard: list[Record] = [Sampled(0, 2, 120, 0.001, 1e-5, 1e-3, 1e-6)]
    heard += [*planted.ranks(("0", "1")), *(planted.noise(lost, cpu) for cpu in (0, 1))]
    plan = {"precision": 0.05, "benchmarks": ["PingPong", "Allreduce"]}
    return planted.run([*measured, *node], heard, planted.LAPTOP, plan=plan)


def test_the_screen_ends_with_the_numbers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this order: the table, limits, numbers, how sure, what is next; on 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    present(whole())
    text = capsys.readouterr().out
    marks = [
        "over size", "Allreduce", "Limits of the machine (this run, cores 0 and 1)",
        "a message by shared memory", "latency 10 × this", "one copy of 1 MiB",
        "latency, 0 B", "peak bandwidth", "This machine is good for measuring",
        "Next: `mpigauge report planted` (one page with plots, for a browser)",
    ]  # fmt: skip
    places = [text.find(mark) for mark in marks]
    assert min(places) >= 0, marks[places.index(-1)]
    assert places == sorted(places)
    assert "off by" not in text
    assert "NODE:" not in text, "limits are no lines of the table"
    assert "doctor" not in text
    assert max(map(len, text.splitlines())) <= WIDTH
    curves = [line.split()[-1] for line in text.splitlines() if line.startswith("PingPong")]
    assert [len(curve) for curve in curves] == [4], "a small curve over the sizes"


def test_the_worst_of_machines_has_all_on_one_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seven benchmarks, ranges beside intervals, a noisy machine, whose earlier runs are known. The
    machine has a line above, and the place of the run another."""
    monkeypatch.setenv("COLUMNS", "80")
    run = whole(0.4, (*PAIRS, *BANDS, *COLLECTIVES), flags=["tainted"])
    known = {cell_name(cell.key): Scatter(0.5, -1.0, math.log(3), 9) for cell in run.cells}
    present(replace(run, between=Between(9, 0.2, known)), word="last")
    lines = capsys.readouterr().out.splitlines()
    measured = {line.split()[0] for line in lines if line.split()}
    assert {*PAIRS, *BANDS, *COLLECTIVES} <= measured
    assert any(line.startswith("This machine is poor") for line in lines)
    assert len(lines) + 2 <= LINES


def test_the_screen_says_how_far_its_numbers_hold(capsys: pytest.CaptureFixture[str]) -> None:
    run = whole()
    known = {cell_name(cell.key): Scatter(0.05, -0.1, math.log(1.12), 9) for cell in run.cells}
    present(replace(run, between=Between(9, 0.2, known)))
    text = " ".join(capsys.readouterr().out.split())
    assert "within ±5 %. At other times: ±12 % for half of them" in text


def test_a_noisy_machine_is_sent_to_the_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    present(whole(lost=0.4, flags=["tainted"]))
    text = " ".join(capsys.readouterr().out.split())
    assert "This machine is poor for measuring now" in text
    assert text.endswith("Next: `mpigauge doctor` (what distorts timings on this machine)")
    assert "7 of 10 cells flagged, 2 more remarks; `mpigauge show planted --remarks`" in text
    assert "core 0: others took" not in text, "the sentence about the machine has it"


def test_wrong_data_leave_nothing_to_trust(capsys: pytest.CaptureFixture[str]) -> None:
    present(whole(wrong_count=3))
    text = " ".join(capsys.readouterr().out.split())
    assert "Do not trust these numbers: wrong data: 126 elements differ" in text
    assert "`mpigauge explain planted`" in text
    assert "for measuring now" not in text


def test_the_machine_has_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    mpi = SimpleNamespace(label="mpich 5.0.2")
    machines = Path(__file__).resolve().parents[3] / "machines"
    for file in sorted(path for path in machines.iterdir() if path.suffix == ".txt"):
        introduce([SimpleNamespace(machine=topology.read(file), mpi=mpi)])  # type: ignore[list-item]
        (line,) = capsys.readouterr().out.splitlines()
        assert len(line) <= WIDTH, line
        assert "mpich 5.0.2" in line

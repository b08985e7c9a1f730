# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge check --guidelines: a collective beside others that can take its place."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mpigauge.cli.main import run
from mpigauge.model.stored_cards import all_cards
from mpigauge.products.check.guidelines import GUIDELINES, against_guidelines
from mpigauge.products.check.result import CheckLine
from mpigauge.result.compare.match.items import items
from mpigauge.result.stats.launches import rows as rows_of
from tests import cells, runs


def measured(
    times_us: dict[tuple[str, int], float], launches: int = 6, scatter: float = 0.01, **more: Any
) -> list[Any]:
    """Cells of these benchmarks and sizes among two ranks, whose launches differ by half."""
    random = Random(17)
    return [
        cells.cell(
            benchmark,
            message_bytes=size,
            launch=launch,
            time_p50_s=1e-6 * time * (1 + launch / 10) * random.gauss(1, scatter),
            **more,
        )
        for launch in range(launches)
        for (benchmark, size), time in times_us.items()
    ]


def checked(*found: list[Any]) -> tuple[list[CheckLine], list[str]]:
    return against_guidelines(items(rows_of([cell for each in found for cell in each])))


def outcomes(lines: list[CheckLine]) -> dict[tuple[str, str], str]:
    return {(line.name, line.what): line.outcome for line in lines}


def test_an_allreduce_that_takes_longer_than_its_parts_fails() -> None:
    times = {("Allreduce", 8): 5.0, ("Reduce", 8): 2.0, ("Bcast", 8): 1.0}
    lines, _ = checked(measured(times))
    (line,) = [line for line in lines if line.outcome == "FAIL"]
    assert (line.name, line.what) == ("Allreduce 8 B on 2 ranks", "at most Reduce + Bcast")
    assert line.allowed == pytest.approx(1.25 * 3e-6, rel=0.05)
    assert line.why.startswith("1.6") or line.why.startswith("1.7")
    assert line.why.endswith("× Reduce 8 B + Bcast 8 B")


def test_one_that_takes_less_passes() -> None:
    times = {("Allreduce", 8): 2.5, ("Reduce", 8): 2.0, ("Bcast", 8): 1.0}
    lines, _ = checked(measured(times))
    assert outcomes(lines) == {
        ("Allreduce on 2 ranks", "at most Reduce + Bcast"): "PASS",
        ("Reduce on 2 ranks", "at most Allreduce"): "PASS",
    }


def test_parts_have_the_messages_that_they_need() -> None:
    """Of an Allgather of 8 B among two ranks, a Bcast has 16 B; of a Reduce_scatter the Reduce."""
    gathered = {("Allgather", 8): 9.0, ("Gather", 8): 2.0, ("Bcast", 16): 2.0, ("Bcast", 8): 50.0}
    lines, _ = checked(measured(gathered))
    assert outcomes(lines)["Allgather 8 B on 2 ranks", "at most Gather + Bcast"] == "FAIL"
    spread = {("Reduce_scatter", 8): 9.0, ("Reduce", 16): 2.0, ("Scatter", 8): 2.0}
    lines, _ = checked(measured(spread))
    assert outcomes(lines)["Reduce_scatter 8 B on 2 ranks", "at most Reduce + Scatter"] == "FAIL"


def test_a_larger_message_takes_no_less_time() -> None:
    lines, _ = checked(measured({("Bcast", 8): 1.0, ("Bcast", 64): 3.0, ("Bcast", 512): 2.0}))
    (line,) = [line for line in lines if line.outcome == "FAIL"]
    assert line.name == "Bcast 64 B on 2 ranks"
    assert line.why.endswith("× Bcast 512 B")
    (line,) = checked(measured({("Bcast", 8): 1.0, ("Bcast", 64): 1.0, ("Bcast", 512): 2.0}))[0]
    assert (line.outcome, line.why) == ("PASS", "holds at 2 sizes")


def test_what_may_be_chance_is_undecided() -> None:
    times = {("Allreduce", 8): 3.05, ("Reduce", 8): 2.0, ("Bcast", 8): 1.0}
    lines, _ = checked(measured(times, scatter=0.2))
    assert outcomes(lines)["Allreduce on 2 ranks", "at most Reduce + Bcast"] == "UNDECIDED"


def test_few_launches_decide_nothing() -> None:
    times = {("Allreduce", 8): 9.0, ("Reduce", 8): 2.0, ("Bcast", 8): 1.0}
    lines, _ = checked(measured(times, launches=5))
    assert {line.outcome for line in lines} == {"UNDECIDED"}
    assert lines[0].why == "fewer than six launches give no interval"


def test_only_numbers_that_were_measured_alike_are_set_beside_each_other() -> None:
    slow = measured({("Allreduce", 8): 9.0}, arm="a")
    parts = measured({("Reduce", 8): 2.0, ("Bcast", 8): 1.0})
    lines, notes = checked(slow, parts)
    assert lines == []
    assert notes == [
        "not checked: Allreduce against Reduce + Bcast, of which no size was measured",
        "not checked: Reduce against Allreduce, of which no size was measured",
        (
            "not checked against messages from rank to rank: measure ALG:Allreduce, "
            "ALG:Bcast and ALG:Reduce, too"
        ),
    ]


def test_a_collective_is_no_slower_than_its_algorithms() -> None:
    library = measured({("Alltoall", 8): 9.0, ("Alltoall", 64): 3.0})
    times = {("Alltoall/pairwise", 8): 2.0, ("Alltoall/bruck", 8): 20.0}
    lines, notes = checked(library, measured(times, suite="ALG"))
    assert outcomes(lines)["Alltoall 8 B on 2 ranks", "at most ALG:Alltoall/pairwise"] == "FAIL"
    assert outcomes(lines)["Alltoall on 2 ranks", "at most ALG:Alltoall/bruck"] == "PASS"
    assert not any("ALG" in note for note in notes)


def test_only_the_fastest_of_the_faster_algorithms_is_reported() -> None:
    library = measured({("Bcast", 8): 9.0})
    times = {("Bcast/binomial", 8): 2.0, ("Bcast/linear", 8): 1.0, ("Bcast/knomial", 8): 20.0}
    lines, _ = checked(library, measured(times, suite="ALG"))
    assert [(line.outcome, line.what) for line in lines] == [
        ("FAIL", "at most ALG:Bcast/linear"),
        ("PASS", "at most ALG:Bcast/knomial"),
    ]


def test_every_collective_of_a_guideline_has_algorithms() -> None:
    for name in GUIDELINES:
        assert all_cards().algorithms(name)


def test_a_run_is_checked_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = {"Allreduce": 5e-6, "Reduce": 2e-6, "Bcast": 1e-6}
    lines = [
        runs.cell(launch, benchmark=name, message_bytes=8, time_p50_s=time * (1 + launch / 100))
        for launch in range(6)
        for name, time in times.items()
    ]
    heads = [runs.launch(launch) for launch in range(6)]
    folder = runs.write(tmp_path / "run", [*heads, *lines])
    assert run(["check", str(folder), "--guidelines", "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    (bad,) = [line for line in told["lines"] if line["outcome"] == "FAIL"]
    assert bad["what"] == "at most Reduce + Bcast"

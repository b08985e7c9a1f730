# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge compare` of profiles on several numbers of ranks."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.model.errors import UserError
from mpigauge.products.profile.analyse.compared import SideOfProfile
from mpigauge.products.profile.analyse.efficiencies import efficiencies_of
from mpigauge.products.profile.analyse.scaling import Scaling, scaling_of
from mpigauge.products.profile.show.text import lines_of
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.runs.readers import READERS, Text
from tests.profiles import job, stored
from tests.unit.products.profile.test_profile_bound import of, rank, usage

MPI_S = 2.0


def program(ranks: int, computing_s: float, launch: int = 0, lost: bool = False) -> ProfiledJob:
    """Ranks that compute for so long, and are in MPI for 2 s."""
    run_s = computing_s + MPI_S
    taken = usage(run_s / 2 if lost else run_s, involuntary=1000 if lost else 4)
    files = [rank(number, MPI_S, run_s=run_s, on_s=run_s, usage=taken) for number in range(ranks)]
    return replace(of(*files), launch=launch)


def sides(*jobs: Sequence[ProfiledJob]) -> list[SideOfProfile]:
    return [SideOfProfile.of(f"run{len(each[0].ranks)}", each) for each in jobs]


def scaled(*computing_s: float) -> Scaling:
    return scaling_of(sides(*[[program(2**n, each)] for n, each in enumerate(computing_s, 1)]))


def test_a_problem_of_one_size_scales_strongly() -> None:
    found = scaled(8.0, 5.0, 2.5)
    assert (found.kind, found.is_inferred) == ("strong", True)
    assert [point.ranks for point in found.points] == [2, 4, 8]
    assert [point.computation.value for point in found.points] == pytest.approx([1, 0.8, 0.8])
    parallel = [8 / 10, 5 / 7, 2.5 / 4.5]
    overall = [point.overall.value for point in found.points]
    assert overall == pytest.approx([parallel[0], 0.8 * parallel[1], 0.8 * parallel[2]])
    assert [point.speedup.value for point in found.points] == pytest.approx([1, 10 / 7, 10 / 4.5])


def test_a_problem_that_grows_with_ranks_scales_weakly() -> None:
    found = scaled(8.0, 8.0, 10.0)
    assert found.kind == "weak"
    assert [point.computation.value for point in found.points] == pytest.approx([1, 1, 0.8])


def test_an_option_decides() -> None:
    two, four = [program(2, 8.0)], [program(4, 8.0)]
    found = scaling_of(sides(four, two), "strong")
    assert not found.is_inferred
    assert [point.computation.value for point in found.points] == pytest.approx([1, 0.5])
    with pytest.raises(UserError, match="all of these have 2"):
        scaling_of(sides(two, two), "strong")


def test_launches_make_intervals() -> None:
    two = [program(2, 8.0 + n / 10, n) for n in range(3)]
    four = [program(4, 4.0 + n / 10, n) for n in range(3)]
    _, last = scaling_of(sides(two, four)).points
    for ratio in (last.computation, last.overall, last.speedup):
        assert ratio.low < ratio.value < ratio.high


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    jobs = {2: program(2, 8.0), 4: program(4, 5.0), 8: program(8, 2.5, lost=True)}
    return [str(stored(tmp_path / f"run{ranks}", each)) for ranks, each in jobs.items()]


def test_compare_prints_a_table_and_its_plot(
    runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert mpigauge(["compare", *runs]) == 0
    text = capsys.readouterr().out
    assert "solver on 2, 4 and 8 ranks: strong scaling (inferred from the computation" in text
    rows = {line[:30].strip(): line[30:].split() for line in text.splitlines()}
    assert rows["computation scaling"] == ["100", "%", "80", "%"]
    assert rows["parallel efficiency"] == ["80", "%", "71", "%"]
    assert "Efficiency by ranks" in text
    assert "run8: ranks were kept from their cores" in text


def test_compare_writes_numbers(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert mpigauge(["compare", *runs, "--scaling", "weak", "--format", "csv"]) == 0
    rows = list(csv.DictReader(StringIO(capsys.readouterr().out)))
    assert [row["scaling"] for row in rows] == ["weak"] * 3
    assert float(rows[1]["computation"]) == pytest.approx(1.6)
    assert mpigauge(["compare", *runs, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["scaling"], told["inferred"]) == ("strong", True)
    assert [each["starved"] for each in told["points"]] == [False, False, True]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--fail-on", "slower"], "leave --fail-on out"),
        (["--only", "in MPI"], "leave --only out"),
        (["--format", "latex"], "take table or csv"),
    ],
)
def test_what_has_no_meaning_is_refused(
    runs: list[str], capsys: pytest.CaptureFixture[str], words: list[str], why: str
) -> None:
    assert mpigauge(["compare", *runs, *words]) == 2
    assert why in capsys.readouterr().err


def test_profiles_of_as_many_ranks_are_compared_by_call_sites(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = [str(stored(tmp_path / name, job())) for name in ("a", "b")]
    assert mpigauge(["compare", *same]) == 0
    assert "Allreduce in norm" in capsys.readouterr().out
    assert mpigauge(["compare", *same, "--scaling", "strong"]) == 2
    assert "--scaling is for profiles of several numbers" in capsys.readouterr().err


def test_talp_reads_and_writes_the_same_efficiencies() -> None:
    plain = job()
    written = "\n".join(lines_of([plain], "talp"))
    assert set(json.loads(written)["Application"]) == {"Global", "secret step"}
    reading = READERS.find("talp").read(Text(written.encode()))
    found = {(figure.arm, figure.name): figure for figure in reading.figures}
    account = SideOfProfile.of("a", [plain]).accounts[0]
    for arm, region in (("", ""), ("region=secret step", "secret step")):
        own = efficiencies_of(account, region)
        for name, value in (
            ("parallel efficiency", own.parallel),
            ("MPI load balance", own.load_balance),
            ("MPI communication efficiency", own.communication),
        ):
            assert found[arm, name].value == pytest.approx(100 * value, abs=0.01)
        assert found[arm, "elapsed time"].value == pytest.approx(own.run_s)
        assert found[arm, "calls of MPI"].value == own.calls
    product = 1.0
    for name in ("MPI load balance in nodes", "MPI load balance between nodes"):
        product *= found["", name].value / 100
    assert product == pytest.approx(efficiencies_of(account).load_balance, abs=1e-3)
    assert {figure.ranks for figure in reading.figures} == {2}

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Commands with very many real ranks on the cores that are there: they end, nothing is lost, and
what did not fit into the time is listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.runs.store import Run, load
from mpigauge.runs.store.tunings import load_tuning
from mpigauge.site.mpi import find
from tests.e2e.commands import mpigauge
from tests.profiled import build

pytestmark = pytest.mark.mpi

KEY = ("benchmark", "ranks", "message_bytes")
NO_TIME = "no time was left for "
CASES = [
    pytest.param("mpich", 8, "5s", id="mpich-8"),
    *(
        pytest.param(name, ranks, "60s", id=f"{name}-{ranks}",
                     marks=pytest.mark.acceptance("many-ranks"))
        for name, ranks in (("mpich", 512), ("openmpi", 128), ("intel", 256))
    ),
]  # fmt: skip
on_many = pytest.mark.parametrize(("name", "ranks", "seconds"), CASES)
of_mpich = pytest.mark.parametrize(("name", "ranks", "seconds"), CASES[:2])


def measured(folder: Path, words: tuple[str, ...], name: str, ranks: int) -> Run:
    """The run that a command stores on so many ranks, with all of them and without a fault."""
    kind = ("--set", "mpi_yield_when_idle=1") if name == "openmpi" else ()
    done = mpigauge(
        *words, "--mpi", name, *kind, "--np", str(ranks), "--oversubscribe", "--output", "out",
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    run = load(folder / "out")
    assert not run.damaged
    assert {rank.rank for rank in run.ranks} == set(range(ranks))
    assert [end.wrong_count for end in run.ends] == [0] * len(run.ends)
    return run


@on_many
def test_a_run_lists_what_did_not_fit(name: str, ranks: int, seconds: str, tmp_path: Path) -> None:
    words = (
        "run",
        "Barrier",
        "Allreduce",
        "--sizes",
        "4,1Ki",
        "--launches",
        "1",
        "--time",
        seconds,
    )
    run = measured(tmp_path, words, name, ranks)
    cells = {(cell.benchmark, cell.ranks, cell.message_bytes) for cell in run.cells}
    skipped = {tuple(skip.key[name] for name in KEY) for skip in run.skips}
    numbers = {2**power for power in range(1, ranks.bit_length())}
    sizes = [("Barrier", -1), ("Allreduce", 4), ("Allreduce", 1024)]
    assert cells
    assert not cells & skipped
    assert cells | skipped == {(each, n, size) for n in numbers for each, size in sizes}
    assert all(skip.reason.startswith(NO_TIME) for skip in run.skips)


@on_many
def test_a_map_measures_whole_rounds(name: str, ranks: int, seconds: str, tmp_path: Path) -> None:
    words = ("map", "--sizes", "8", "--time", seconds)
    run = measured(tmp_path, words, name, ranks)
    pairs = {tuple(map(int, cell.members.split(","))) for cell in run.cells}
    assert len(pairs) % (ranks // 2) == 0
    assert {rank for pair in pairs for rank in pair} == set(range(ranks))


@of_mpich
def test_a_sweep_has_all_its_points(name: str, ranks: int, seconds: str, tmp_path: Path) -> None:
    words = ("sweep", "Barrier", "--ranks", str(ranks), "--vary", "env:A=1,2", "--launches", "1")
    run = measured(tmp_path, (*words, "--time", seconds), name, ranks)
    assert {cell.arm for cell in run.cells} == {"", "control", "env:A=1", "env:A=2"}


@of_mpich
def test_a_tuning_has_a_rule_or_keeps_the_default(
    name: str, ranks: int, seconds: str, tmp_path: Path
) -> None:
    words = ("tune", "Allreduce", "--mpi", name, "--ranks", str(ranks), "--oversubscribe")
    limits = ("--sizes", "8", "--launches", "3", "--time", seconds)
    done = mpigauge(*words, *limits, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    tuning = load_tuning(tmp_path / "out")
    judged = {(each.rule.collective, each.rule.ranks) for each in tuning.rules}
    judged |= {(each.collective, each.ranks) for each in tuning.left}
    assert judged == {("Allreduce", ranks)}


@on_many
def test_a_profile_has_all_ranks(name: str, ranks: int, seconds: str, tmp_path: Path) -> None:
    """The time is that of the program: fifty exchanges in a ring."""
    assert seconds
    program = build(find(name), "late.cpp", tmp_path)
    kind = ("--set", "mpi_yield_when_idle=1") if name == "openmpi" else ()
    done = mpigauge(
        "profile", "--mpi", name, *kind, "--np", str(ranks), "--oversubscribe", "--output", "out",
        "--", str(program), "nobody", "50", "0", "irecv", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (job,) = load_jobs(tmp_path / "out")
    assert [file.rank for file in job.profile.files] == list(range(ranks))

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pairs of ranks in one launch, with every installed MPI."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.runs.store import load
from mpigauge.site.mpi import find
from tests.e2e.commands import mpigauge

pytestmark = pytest.mark.mpi

KIND = ("--set", "mpi_yield_when_idle=1")


def words(mpi: Mpi, *more: str) -> tuple[str, ...]:
    """Several ranks share two cores here."""
    kind = KIND if mpi.launcher == "openmpi" else ()
    return ("map", "--mpi", mpi.spec, *kind, "--oversubscribe", "--sizes", "8", *more)


@pytest.mark.parametrize("form", ["all", "each"])
def test_every_two_ranks_meet(mpi: Mpi, built: Kernels, form: str, tmp_path: Path) -> None:
    """Rank 0 rests in one round of three, where another rank has to keep what is to be written."""
    assert built.executable.exists()
    done = mpigauge(*words(mpi, "--np", "3", "--pairs", form, "--output", "out"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    stored = load(tmp_path / "out")
    assert not stored.damaged
    first = [cell for cell in stored.cells if cell.launch == 0]
    assert sorted(cell.members for cell in first) == ["0,1", "0,2", "1,2"]
    assert all(cell.ranks == 2 and cell.groups == 1 and cell.samples for cell in first)
    (end, *_) = stored.ends
    assert end.cells == 3
    assert "PingPong 8 B, µs between every two ranks" in done.stdout
    assert "3 pairs" in done.stdout


def test_pairs_side_by_side(tmp_path: Path) -> None:
    """4 ranks on 2 cores: with Open MPI, where a waiting rank leaves its core to others."""
    mpi = find("openmpi")
    done = mpigauge(*words(mpi, "--np", "4", "--format", "json", "--output", "out"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    beside = [row for row in rows if row["groups"] == 2]
    assert {row["members"] for row in beside} == {f"{a},{b}" for a, b in combinations(range(4), 2)}


def test_cache_lines_between_every_two_cores(tmp_path: Path) -> None:
    done = mpigauge("map", "--benchmark", "NODE:Mailbox", "--np", "2", "--output", "out",
                    cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "NODE:Mailbox, ns between every two ranks" in done.stdout
    (cell,) = load(tmp_path / "out").cells
    assert (cell.benchmark, cell.members, cell.message_bytes) == ("Mailbox", "0,1", -1)


def test_pairs_by_name_and_later_shown_as_a_map(tmp_path: Path) -> None:
    done = mpigauge(
        "map", "--np", "3", "--oversubscribe", "--pairs", "2-1", "--sizes", "8",
        "--output", "out", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [cell.members for cell in load(tmp_path / "out").cells] == ["2,1"]
    for form, mark in {"map": "1 pair", "svg": "<title>", "table": "2,1", "csv": '"2,1"'}.items():
        shown = mpigauge("show", "out", "--format", form, cwd=tmp_path)
        assert shown.returncode == 0, shown.stderr
        assert mark in shown.stdout

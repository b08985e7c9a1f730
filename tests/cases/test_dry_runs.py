# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What would be measured on machines that are files, by the kernels of each MPI."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.mpi import Mpi

pytestmark = pytest.mark.mpi

ROME = str(Path(__file__).resolve().parents[1] / "machines/epyc-rome-2s-nps4.xml")
DRY = """\
numa: 2 ranks, PingPong
  rank  host  cpuset  core  NUMA  socket  to rank 0
  0     rome  0       0     0     0
  1     rome  4       4     0     0       numa

sockets: 2 ranks, PingPong
  rank  host  cpuset  core  NUMA  socket  to rank 0
  0     rome  0       0     0     0
  1     rome  64      64    4     1       sockets
"""


def test_dry_run_prints_the_table_of_a_machine_that_is_a_file(
    mpi: Mpi, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["run", "PingPong", "--mpi", mpi.spec, "--dry-run", "--topology", ROME]
    assert run([*words, "--place", "numa,sockets"]) == 0
    assert capsys.readouterr().out == DRY
    assert not Path("mpigauge-runs").exists()


def test_dry_run_on_hosts_that_are_like_a_file(
    mpi: Mpi, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four hosts of 128 cores that are not there, and a rank on each core of each."""
    monkeypatch.chdir(tmp_path)
    words = ["run", "Allreduce", "--mpi", mpi.spec, "--dry-run", "--topology", ROME]
    assert run([*words, "--hosts", "n[1-4]"]) == 0
    title, heads, *rows = capsys.readouterr().out.splitlines()
    assert title == "a core for each rank: 512 ranks, Allreduce"
    assert heads.split()[:3] == ["rank", "host", "cpuset"]
    seats = [tuple(row.split()[:3]) for row in rows]
    assert seats == [(str(r), f"n{r // 128 + 1}", str(r % 128)) for r in range(512)]
    assert run([*words, "--hosts", "n[1-4]", "--place", "hosts"]) == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[2:]] == [
        "n1", "n2", "n3", "n4",
    ]  # fmt: skip


def test_a_dry_run_says_how_long_a_map_takes(
    mpi: Mpi, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a node of 2 x 64 cores, where nothing was measured before."""
    monkeypatch.chdir(tmp_path)
    where = ["map", "--mpi", mpi.spec, "--dry-run", "--topology", ROME]
    assert run(where) == 0
    *seats, _, schedule_line, cost_line = capsys.readouterr().out.splitlines()
    assert len(seats) == 2 + 128
    assert schedule_line == "8128 pairs in 127 rounds of 64 at a time, at 8 B and 1 MiB"
    assert re.search(r": 1 launch, 16256 cells in each round: about \d+ s; .* assumed", cost_line)
    assert run([*where, "--benchmark", "NODE:Mailbox", "--pairs", "0-1;0-2"]) == 0
    assert "\n2 pairs in 2 rounds\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--np", "1"], "a pair needs 2 ranks"),
        (["--pairs", "0-9"], "there is no rank 9"),
        (["--draw", "no/where/m.svg"], "there is no folder"),
        (["--draw", "m.gif"], "ends with .svg, .png or .pdf"),
        (["--place", "l3,node", "--dry-run", "--topology", ROME],
         "a map is of one placement, not 2 (l3, sockets)"),
    ],
)  # fmt: skip
def test_wrong_words_launch_nothing(
    mpi: Mpi,
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["map", "--mpi", mpi.spec, *words]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs, profiles and networks of very many ranks: what Python takes for them grows with the ranks
and not with their square. Bytes are counted, never seconds."""

from __future__ import annotations

import json
import tracemalloc
from functools import partial
from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.main import run as main
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.runs.store import load
from tests import fabrics, profiles, scale

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MANY = 10_000
FEW, TIMES = 500, 4
LINEAR = 1.25 * TIMES
"""How much more so many times the ranks may take."""
MOST_BYTES_OF_A_RANK = 3000
RECORDS_OF_A_RANK = 3
"""Its place, and the noise on its core before and after."""


def peak_of(action: Callable[[], object]) -> int:
    """The most bytes that an action holds at the same time."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def command(name: str, folder: Path) -> None:
    words = [name, str(folder)]
    assert main([*words, "-o", str(folder / "page.html")] if name == "report" else words) == 0


# --- runs -------------------------------------------------------------------------------------
def test_a_run_of_ten_thousand_ranks_is_stored_and_read(tmp_path: Path) -> None:
    folder = scale.store_run(tmp_path / "run", MANY)
    assert bytes_in(folder) < MOST_BYTES_OF_A_RANK * MANY
    run = load(folder)
    assert not run.damaged
    assert [len(run.ranks), len(run.noise)] == [MANY, 2 * MANY]
    records = (folder / "records.jsonl").read_text(encoding="utf-8").count("\n")
    assert records - RECORDS_OF_A_RANK * MANY == 2 + len(run.cells)


def test_a_run_of_ten_thousand_ranks_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command("show", scale.store_run(tmp_path / "run", MANY))
    text = capsys.readouterr().out
    assert "Allreduce · 10000 ranks" in text
    assert len(text) < 20_000  # no line for each rank


@pytest.mark.parametrize("name", ["show", "explain", "report"])
def test_memory_grows_with_the_ranks_of_a_run(tmp_path: Path, name: str) -> None:
    command(name, scale.store_run(tmp_path / "warm", 8))  # imports are not counted
    few, many = (scale.store_run(tmp_path / str(ranks), ranks) for ranks in (FEW, TIMES * FEW))
    assert peak_of(lambda: command(name, many)) < LINEAR * peak_of(lambda: command(name, few))


# --- profiles ---------------------------------------------------------------------------------
def store_profile(folder: Path, ranks: int) -> None:
    joined = merged([profiles.rank_file(rank) for rank in range(ranks)])
    profiles.stored(folder, ProfiledJob(0, 0, joined, {}))


def test_memory_and_bytes_of_a_profile_grow_with_its_ranks(tmp_path: Path) -> None:
    peaks, sizes = [], []
    for ranks in (50, TIMES * 50):
        folder = tmp_path / str(ranks)
        peaks.append(peak_of(partial(store_profile, folder, ranks)))
        sizes.append(bytes_in(folder))
    assert peaks[1] < LINEAR * peaks[0]
    assert sizes[1] < LINEAR * sizes[0]


# --- networks ---------------------------------------------------------------------------------
SLOW = 3


def network_of(folder: Path, hosts: int) -> Path:
    names = [f"n{place:05}" for place in range(hosts)]
    return fabrics.run(folder, lambda pair: 0.4 if SLOW in pair else 1.0, hosts=names)


def test_of_a_thousand_hosts_the_slow_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = network_of(tmp_path / "fabric", 1000)
    command("show", folder)
    assert "SLOW: host n00003," in capsys.readouterr().out
    kinds = [
        json.loads(line)["record"]
        for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert kinds.count("matching") == 2 * fabrics.ROUNDS  # none for each pair


def test_memory_grows_with_the_hosts_of_a_network(tmp_path: Path) -> None:
    command("show", network_of(tmp_path / "warm", 8))
    few, many = (network_of(tmp_path / str(hosts), hosts) for hosts in (256, TIMES * 256))
    assert peak_of(lambda: command("show", many)) < LINEAR * peak_of(lambda: command("show", few))

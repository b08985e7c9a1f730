# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Lateness that was planted in recorded times is told, by rank and amount, and no other."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from mpigauge.products.profile.match.kept import KeptCalls, OwnCalls, is_kept, kept_calls
from mpigauge.products.profile.match.waiting import (
    Split,
    own_splits,
    places_of,
    split_calls,
    waits,
)
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.files import read_rank
from mpigauge.products.profile.read.rank_file import Comm, Instances, RankFile, Site, Waits
from mpigauge.site.builds.cxx import compiler_words
from tests.profiled.written import START_UTC_S, Written
from tests.profiles import site, stored_records

US = 1e-6
HZ = 2e9
CALLS = 1000
OPERATION_S = 4 * US
Clock = tuple[float, float]
"""By how much it is ahead at the start, and by what part of the time it gains."""


@cache
def plain_file() -> RankFile:
    with TemporaryDirectory() as folder:
        return read_rank(Written().write(Path(folder) / "a.mpiprof"))


class Program:
    """Ranks that compute, come late, and meet in a collective."""

    def __init__(self, ranks: int, calls: int = CALLS, seed: int = 1) -> None:
        self.rng = np.random.default_rng(seed)
        self.ranks, self.calls = ranks, calls
        self.late = np.zeros((calls, ranks))
        self.longer = np.zeros((calls, ranks))

    def run(self, who: Waits = "all", root: int = layout.NO_RANK) -> tuple[Any, Any]:
        """When ranks entered and left each call."""
        entered, left = np.zeros_like(self.late), np.zeros_like(self.late)
        now = np.zeros(self.ranks)
        noise = self.rng.exponential(0.05 * US, self.late.shape)
        for n in range(self.calls):
            entered[n] = now + 20 * US + self.late[n]
            if who == "all":
                begun = np.full(self.ranks, entered[n].max())
            elif who == "for_root":
                begun = np.maximum(entered[n], entered[n, root])
            else:
                begun = entered[n].copy()
                begun[root] = entered[n].max()
            left[n] = begun + OPERATION_S + self.longer[n] + noise[n]
            now = np.full(self.ranks, left[n].max()) if who == "all" else left[n]
        return entered, left

    def files(
        self,
        who: Waits = "all",
        root: int = layout.NO_RANK,
        clocks: Sequence[Clock] = (),
        level: int = 0,
        spots: int = 1,
    ) -> list[RankFile]:
        """The program calls from so many places in turn."""
        entered, left = self.run(who, root)
        index = np.arange(self.calls)
        kept = is_kept(index, level)
        found = []
        for rank in range(self.ranks):
            off, gain = clocks[rank] if clocks else (0.0, 0.0)
            records = np.zeros(int(kept.sum()), layout.INSTANCE)
            records["index"], records["root"] = index[kept], root
            records["site"] = index[kept] % spots
            for name, times in (("entered", entered), ("left", left)):
                told = times[kept, rank] * (1 + gain) + off
                records[name] = np.round((1 + told) * HZ)
            took = (left - entered)[:, rank]
            times = who, 0, self.calls, took.sum(), level
            kind = Instances(1, "MPI_Any", 4, *times, stored_records(records))
            sites = [site_of(took[spot::spots]) for spot in range(spots)]
            found.append(file_of(rank, self.ranks, kind, f"host{rank if clocks else 0}", sites))
        return found


def site_of(took: Any) -> Site:
    return site("MPI_Any", "collective", (), took, HZ)


def file_of(
    rank: int, ranks: int, kind: Instances, host: str, sites: Sequence[Site] = ()
) -> RankFile:
    world = Comm(1, "world", rank, ranks, 0, tuple(range(ranks)), 7, 1, 0, "")
    return replace(
        plain_file(),
        rank=rank,
        ranks=ranks,
        job=1,
        host=host,
        comms={1: world},
        instances=(kind,),
        sites=tuple(sites),
        start_ticks=int(HZ),
        start_utc_s=START_UTC_S,
        hz=HZ,
    )


def split_groups(kept: KeptCalls) -> list[Split]:
    """The groups of calls that can be split."""
    both = [split_calls(kept, group) for group in kept.groups]
    return [each[0] for each in both if each is not None]


def waits_of(files: Sequence[RankFile], numbers: Sequence[Sequence[int]]) -> Any:
    """The waits of all ranks."""
    kept = kept_calls(files, numbers)
    places = places_of(split_groups(kept))
    all_ranks = [OwnCalls(kept, rank) for rank in range(len(files))]
    return np.concatenate([waits(own, own_splits(own, places)) for own in all_ranks])


def told(files: Sequence[RankFile]) -> Any:
    """A row for each rank."""
    rows = waits_of(files, [[0] for _ in files])
    assert rows["rank"].tolist() == list(range(len(files)))
    return rows


def holds(row: Any, planted_s: float) -> bool:
    """Whether the interval has it, and says something."""
    wide = row["waiting_high_s"] - row["waiting_low_s"]
    return bool(row["waiting_low_s"] <= planted_s <= row["waiting_high_s"] and wide < planted_s / 5)


def test_python_draws_the_calls_that_the_library_keeps(repository: Path, tmp_path: Path) -> None:
    profiler, program = repository / "profiler", tmp_path / "kept"
    words = [*compiler_words("a test"), "-std=c++20", f"-I{profiler}"]
    subprocess.run([*words, str(profiler / "tests/kept.cpp"), "-o", str(program)], check=True)
    text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    lines = text.splitlines()
    assert len(lines) == 8
    for line in lines:
        level, *kept = map(int, line.split())
        assert np.flatnonzero(is_kept(np.arange(4096), level)).tolist() == kept
        assert len(kept) == 4096 >> level


@pytest.mark.parametrize("late_us", [50, 200, 1000])
def test_one_rank_that_is_late_is_waited_for(late_us: int) -> None:
    program = Program(2)
    program.late[:, 1] = late_us * US
    early, late = told(program.files())
    assert holds(early, late_us * US * CALLS)
    assert early["resolved"]
    assert not late["resolved"]
    assert late["waiting_s"] < 0.02 * early["waiting_s"]
    assert early["moving_s"] == pytest.approx(OPERATION_S * CALLS, rel=0.1)


def exponential(program: Program) -> None:
    program.late[:] = program.rng.exponential(100 * US, program.late.shape)


def alternating(program: Program) -> None:
    program.late[::2, 0] = program.late[1::2, 1] = 100 * US


@pytest.mark.parametrize("plant", [exponential, alternating])
@pytest.mark.parametrize("level", [0, 2, 4])
def test_totals_are_right_where_some_calls_are_kept(
    plant: Callable[[Program], None], level: int
) -> None:
    within = 0
    for seed in range(20):
        program = Program(3, calls=4000, seed=seed)
        plant(program)
        planted = (program.late.max(axis=1, keepdims=True) - program.late).sum(axis=0)
        rows = told(program.files(level=level))
        within += sum(
            row["waiting_low_s"] <= each <= row["waiting_high_s"] * (1 + 1e-9)
            for row, each in zip(rows, planted, strict=True)
        )
        assert rows["waiting_s"] == pytest.approx(planted, rel=0.25)
    assert within >= 54  # of 60; 57 are expected


def test_clocks_of_hosts_that_are_off_and_drift_are_brought_together() -> None:
    program = Program(2)
    program.late[:, 1] = 50 * US
    early, late = told(program.files(clocks=[(0.0, 0.0), (5e-3, 30e-6)]))
    assert early["waiting_s"] == pytest.approx(50 * US * CALLS, rel=0.1)
    assert not late["resolved"]


def test_a_balanced_program_waits_for_nobody() -> None:
    program = Program(2)
    program.late[:] = program.rng.uniform(0, 0.2 * US, program.late.shape)
    assert not any(told(program.files())["resolved"])


def test_only_the_root_is_waited_for_where_it_hands_out() -> None:
    late_root, late_leaf = Program(3), Program(3)
    late_root.late[:, 1] = late_leaf.late[:, 2] = 0
    late_root.late[::2, 1] = 80 * US
    late_leaf.late[::2, 2] = 80 * US
    rows = told(late_root.files("for_root", root=1))
    assert rows["resolved"].tolist() == [True, False, True]
    assert rows["waiting_s"][1] == 0
    assert not told(late_leaf.files("for_root", root=1))["resolved"][:2].any()


def test_only_the_root_waits_where_it_gathers() -> None:
    program = Program(3)
    program.late[::2, 2] = 80 * US
    rows = told(program.files("at_root", root=0))
    assert rows["resolved"][0]
    assert rows["waiting_s"][1:].tolist() == [0, 0]


def test_long_and_rare_is_disturbance() -> None:
    program = Program(2)
    program.late[::100, 1] = 5000 * US
    program.longer[50::100, 0] = 3000 * US
    early, other = told(program.files())
    assert not early["resolved"]
    assert early["disturbed_s"] == pytest.approx(10 * (5000 + 3000) * US, rel=0.1)
    assert early["moving_s"] == pytest.approx(OPERATION_S * CALLS, rel=0.1)
    assert other["moving_s"] == pytest.approx(OPERATION_S * CALLS, rel=0.1)


def test_time_of_places_that_share_a_collective_is_their_own() -> None:
    """Which of the calls were kept is chance: the times of the places are known from all calls."""
    program = Program(2)
    program.late[::2, 1] = program.rng.exponential(100 * US, CALLS // 2)
    files = program.files(level=3, spots=2)
    found = waits_of(files, [[0, 1], [0, 1]])
    rows = {(row["site"], row["rank"]): row for row in found}
    for rank, file in enumerate(files):
        for spot, place in enumerate(file.sites):
            row = rows[spot, rank]
            assert (row["calls"], row["seconds"]) == (CALLS // 2, pytest.approx(place.seconds))
            parts = row["waiting_s"] + row["moving_s"] + row["disturbed_s"]
            assert parts == pytest.approx(place.seconds)
    assert holds(rows[0, 0], float(program.late.sum()))
    assert not rows[1, 0]["resolved"]


def test_ranks_that_do_not_mean_the_same_calls_are_told_nothing() -> None:
    program = Program(2)
    program.late[:] = program.rng.uniform(0, 100 * US, program.late.shape)
    files = program.files()
    records = files[1].instances[0].records()
    records["index"] += 1
    assert split_groups(kept_calls(files, [[0], [0]])) == []


def test_a_communicator_of_which_a_rank_is_missing_is_left_out() -> None:
    files = Program(3).files()[:2]
    assert split_groups(kept_calls(files, [[0], [0]])) == []

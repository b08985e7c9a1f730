# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Who came late to a collective, and by how much, is stored as it was and found again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mpigauge.model.errors import UserError
from mpigauge.products.profile.match.arriving import MOST_VECTORS, arrivals
from mpigauge.products.profile.match.kept import kept_calls
from mpigauge.products.profile.match.waiting import split_calls
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.layout import Counted
from mpigauge.products.profile.store.stored import load_jobs, save
from mpigauge.runs.store.arrivals import ArrivalPattern, arrival_patterns
from tests.process.test_profile_waiting import CALLS, US, Program
from tests.profiles import job


def patterns_of(program: Program) -> tuple[ArrivalPattern, ...]:
    files = []
    for file in program.files():
        cells = np.array(
            [(0, 1, -3, Counted.NONE, 4, 1, CALLS, 12 * CALLS, 8, 15, 1, 0)], layout.CELL
        )
        files.append(replace(file, cells=cells))
    kept = kept_calls(files, [[0] for _ in files])
    (group,) = kept.groups
    split = split_calls(kept, group)
    assert split is not None
    return tuple(arrivals(kept, *split))


def late_in_turn() -> Program:
    program = Program(3)
    for rank in range(3):
        program.late[rank::3, rank] = 100 * US
    return program


def test_vectors_keep_who_is_late_together_with_whom() -> None:
    (pattern,) = patterns_of(late_in_turn())
    assert pattern.lateness_s.shape == (MOST_VECTORS, 3)
    assert (pattern.call, pattern.members, pattern.calls) == ("MPI_Any", (0, 1, 2), CALLS)
    assert (pattern.message_bytes, pattern.least_bytes, pattern.most_bytes) == (12, 8, 15)
    late = pattern.lateness_s > 90 * US
    assert (late.sum(axis=1) == 1).all()
    assert late.mean(axis=0) == pytest.approx(1 / 3, abs=0.1)
    assert pattern.lateness_s[late] == pytest.approx(100 * US, rel=0.02)


def test_what_is_long_and_rare_is_left_out() -> None:
    program = late_in_turn()
    program.late[7::200, 1] += 20e-3
    (pattern,) = patterns_of(program)
    assert pattern.left_out == 5
    assert pattern.lateness_s.max() < 1e-3


def stored(folder: Path) -> Path:
    plain = job()
    spot = next(n for n, each in enumerate(plain.profile.spots) if each.group == "collective")
    (pattern,) = patterns_of(late_in_turn())
    profile = replace(plain.profile, arrivals=(replace(pattern, spot=spot),))
    save(replace(plain, profile=profile, launch=2, number=1), folder)
    return folder


def test_patterns_are_found_again_with_the_names_of_their_places(tmp_path: Path) -> None:
    (found,) = arrival_patterns(stored(tmp_path))
    (made,) = patterns_of(late_in_turn())
    assert (found.launch, found.job, found.ranks) == (2, 1, 3)
    assert (found.lateness_s == made.lateness_s).all()
    assert (found.roots == made.roots).all()
    assert (found.place, found.region) == ("norm at norm.cpp:88", "secret step")
    (loaded,) = load_jobs(tmp_path)
    assert [each.spot for each in loaded.profile.arrivals] == [found.spot]


def test_a_run_without_patterns_has_none(tmp_path: Path) -> None:
    save(job(), tmp_path)
    assert arrival_patterns(tmp_path) == []


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    (numbers,) = (stored(tmp_path) / "profile").glob("arrivals-*.npz")
    numbers.write_bytes(numbers.read_bytes()[:200])
    with pytest.raises(UserError, match=r"arrivals-002-1\.json or .* is damaged"):
        arrival_patterns(tmp_path)

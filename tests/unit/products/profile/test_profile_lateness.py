# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Who comes late is named where it is one rank, in words, as a cause and on the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.causes import explained
from mpigauge.products.profile.analyse.lateness import last_of
from mpigauge.products.profile.kind import page_of
from mpigauge.products.profile.show.pictures import arrivals
from mpigauge.products.profile.show.sentences import sentences
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.runs.store.arrivals import ArrivalPattern
from tests.profiles import stored
from tests.unit.products.profile.test_profile_page import text_of
from tests.unit.products.profile.test_profile_waited import waits

CALLS = 200


def pattern(lateness_s: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> ArrivalPattern:
    """Of two ranks, in the first call site of the profiles of these tests."""
    return ArrivalPattern(
        call="MPI_Allreduce",
        message_bytes=8,
        least_bytes=8,
        most_bytes=8,
        members=(0, 1),
        communicator="world",
        region="",
        function="",
        source_file="",
        line=0,
        spot=0,
        calls=CALLS,
        seconds=1.0,
        left_out=0,
        lateness_s=lateness_s.astype(np.float32),
        roots=np.full(CALLS, -3, np.int32),
    )


def one_late() -> ArrivalPattern:
    """Rank 1 comes 80 µs late, and now and then it is not it."""
    lateness = np.zeros((CALLS, 2))
    lateness[:, 1] = 80e-6
    lateness[::20] = [30e-6, 0]
    return pattern(lateness)


def late_in_turn() -> ArrivalPattern:
    lateness = np.zeros((CALLS, 2))
    lateness[::2, 0] = lateness[1::2, 1] = 40e-6
    return pattern(lateness)


def profile(of: ArrivalPattern, resolved: bool = True) -> ProfiledJob:
    plain = waits(80e-3, 1e-4, resolved)
    return replace(plain, profile=replace(plain.profile, arrivals=(of,)))


def said(job: ProfiledJob) -> str:
    return " ".join(sentences([Account(job)]))


def test_one_rank_that_is_late_is_named() -> None:
    assert last_of(one_late()).rank == 1
    text = said(profile(one_late()))
    assert "; rank 1 comes last in 95 % of the calls, 80.0 µs after the first in the med" in text


def test_ranks_that_take_turns_are_not() -> None:
    text = said(profile(late_in_turn()))
    assert "longest by rank 0)." in text
    assert "comes last" not in text


def test_the_cause_is_waiting_and_says_whose_fault_it_is() -> None:
    findings = {each.cause: each for each in explained([profile(one_late())]).findings}
    assert findings["waits"].what.endswith(": 98 % of its time")
    assert findings["waits"].likely.startswith("rank 1 has more to do before it")
    assert any("88.0 ms to" in each for each in findings["waits"].evidence)


def test_where_nobody_waits_no_cause_says_so() -> None:
    calm = explained([profile(one_late(), resolved=False)]).findings
    assert "waits" not in {each.cause for each in calm}


def test_the_page_draws_how_late_ranks_come(tmp_path: Path) -> None:
    drawn = arrivals(Account(profile(one_late())))
    assert drawn is not None
    assert drawn.names == ("rank 0", "rank 1")
    assert drawn.rows[0][1:4] == ("1", "95 %", "80.0 µs")
    page = page_of(str(stored(tmp_path / "run", profile(one_late()))))
    text = text_of(page)
    assert "Waiting apart from moving" in text
    assert "rank 1 comes last in 95 % of the calls" in text
    assert "How late ranks come" in text

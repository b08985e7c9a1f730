# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What receives, and calls that wait for requests, waited for is told from both sides' numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mpigauge.products.profile.match.kept import OwnCalls, is_kept, kept_calls
from mpigauge.products.profile.match.later import completing_calls, later_waits, others_calls
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.layout import Counted
from mpigauge.products.profile.read.rank_file import Channel, Instances, RankFile, Waits
from tests.process.test_profile_waiting import HZ, OPERATION_S, US, Clock, file_of
from tests.profiles import site, stored_records

CALLS = 1000
STEP_S = 300 * US
"""From one exchange to the next."""
TAG, TAGS = 7, 7


class Exchange:
    """Two ranks that send to each other, and wait for what the other sends."""

    def __init__(self, calls: int = CALLS) -> None:
        self.rng = np.random.default_rng(2)
        self.calls = calls
        self.late = np.zeros((calls, 2))
        self.longer = np.zeros((calls, 2))

    @property
    def posted(self) -> Any:
        """When each rank has sent, and asked."""
        return np.arange(self.calls)[:, None] * STEP_S + 50 * US + self.late

    @property
    def ready(self) -> Any:
        """When each rank's wait could end: the other has sent."""
        return np.maximum(self.posted, self.posted[:, ::-1])

    @property
    def left(self) -> Any:
        noise = self.rng.exponential(0.05 * US, self.late.shape)
        return self.ready + OPERATION_S + self.longer + noise

    @property
    def planted_s(self) -> Any:
        return (self.ready - self.posted).sum(axis=0)


def records(
    times: Sequence[Any], clock: Clock, kept: Any, needs: int = 1
) -> np.ndarray[Any, np.dtype[np.void]]:
    """Of those that are kept: when they were posted, and their call was entered and left."""
    made = np.zeros(int(kept.sum()), layout.INSTANCE)
    made["index"], made["root"], made["needs"] = np.flatnonzero(kept), TAG, needs
    off, gain = clock
    for name, each in zip(("posted", "entered", "left"), times, strict=True):
        made[name] = np.round((1 + each[kept] * (1 + gain) + off) * HZ)
    return made


def meetings(clock: Clock) -> Instances:
    """Barriers, at which all leave at once."""
    begun = np.arange(CALLS) * STEP_S
    made = records([begun, begun, begun + US], clock, np.ones(CALLS, bool))
    return Instances(1, "MPI_Barrier", 0, "all", 0, CALLS, CALLS * US, 0, stored_records(made))


def files_of(
    program: Exchange,
    level: int = 0,
    other_level: int = 0,
    clocks: Sequence[Clock] = ((0.0, 0.0), (0.0, 0.0)),
    needs: int = 1,
) -> list[RankFile]:
    posted, left = program.posted, program.left
    index = np.arange(program.calls)
    found = []
    for rank, clock in enumerate(clocks):
        own_level = other_level if rank else level
        kept = is_kept(index, own_level)
        times = (posted[:, rank], posted[:, rank], left[:, rank])
        made = records(times, clock, kept, needs)
        ways = (Counted.SENT, Counted.RECEIVED)
        channels = tuple(
            Channel(1, 1 - rank, way, TAGS, CALLS, own_level, stored_records(made.copy()))
            for way in ways
        )
        took = list((left - posted)[:, rank])
        host = f"host{rank if clocks[1] != (0.0, 0.0) else 0}"
        file = file_of(rank, 2, meetings(clock), host)
        sites = (site("MPI_Recv", "receive", (), took, HZ),)
        found.append(replace(file, sites=sites, channels=channels))
    return found


def told(files: Sequence[RankFile]) -> Any:
    kept = kept_calls(files, [[0] for _ in files])
    others = others_calls(kept)
    all_ranks = [OwnCalls(kept, rank) for rank in range(len(files))]
    return np.concatenate([later_waits(own, completing_calls(own, others)) for own in all_ranks])


def alternating(late_us: float = 100) -> Exchange:
    program = Exchange()
    program.late[::2, 0] = program.late[1::2, 1] = late_us * US
    return program


@pytest.mark.parametrize("late_us", [50, 100])
@pytest.mark.parametrize(("level", "other_level"), [(0, 0), (2, 0), (1, 3)])
def test_late_senders_are_waited_for(late_us: float, level: int, other_level: int) -> None:
    program = alternating(late_us)
    rows = told(files_of(program, level, other_level))
    assert rows["rank"].tolist() == [0, 1]
    assert rows["kept"].tolist() == [CALLS >> max(level, other_level)] * 2
    assert (rows["waiting_low_s"] <= program.planted_s).all()
    assert (program.planted_s <= rows["waiting_high_s"]).all()
    assert rows["waiting_s"] == pytest.approx(program.planted_s, rel=0.25)
    assert rows["moving_s"] == pytest.approx(OPERATION_S * CALLS, rel=0.25)
    assert rows["resolved"].all()


def test_who_is_on_time_is_not_waited_for() -> None:
    program = Exchange()
    program.late[:] = program.rng.uniform(0, 0.2 * US, program.late.shape)
    assert not told(files_of(program))["resolved"].any()


def test_clocks_of_hosts_are_those_of_their_meetings() -> None:
    program = alternating()
    rows = told(files_of(program, clocks=[(0.0, 0.0), (5e-3, 30e-6)]))
    assert rows["waiting_s"] == pytest.approx(program.planted_s, rel=0.1)


def test_hosts_that_never_meet_are_told_nothing() -> None:
    files = files_of(alternating(), clocks=[(0.0, 0.0), (5e-3, 0.0)])
    assert len(told([replace(file, instances=()) for file in files])) == 0


def test_what_is_long_and_rare_is_disturbance() -> None:
    program = Exchange()
    program.late[::100, 1] = 200 * US
    program.longer[50::100, 0] = 3000 * US
    rows = told(files_of(program))
    assert rows["disturbed_s"][0] == pytest.approx(10 * (200 + 3000) * US, rel=0.1)
    assert not rows["resolved"].any()


def test_a_call_of_which_not_all_is_kept_is_left_out() -> None:
    assert len(told(files_of(alternating(), needs=2))) == 0


def test_sides_that_do_not_mean_the_same_messages_are_told_nothing() -> None:
    """One has missed a message, so tags, counts or times do not fit."""
    files = files_of(alternating())
    missed = files[0].channels[1].records()
    missed["root"][1] += 16
    assert told(files)["rank"].tolist() == [1]
    early = files_of(alternating())
    early[0].channels[1].records()["index"] += 1
    assert told(early)["rank"].tolist() == [1]
    fewer = files_of(alternating())
    sent, received = fewer[0].channels
    fewer[0] = replace(fewer[0], channels=(sent, replace(received, count=CALLS - 1)))
    assert told(fewer)["rank"].tolist() == [1]


def test_where_a_site_waits_for_what_it_sends_too_that_is_left_out() -> None:
    """As many calls again, which took a millisecond each and waited for no message."""
    program = alternating()
    files = files_of(program)
    for rank, file in enumerate(files):
        took = [*(program.left - program.posted)[:, rank], *[1e-3] * CALLS]
        files[rank] = replace(file, sites=(site("MPI_Wait", "wait", (), took),))
    rows = told(files)
    assert rows["calls"].tolist() == [CALLS, CALLS]
    assert rows["waiting_s"] == pytest.approx(program.planted_s, rel=0.02)
    assert (rows["seconds"] < 0.5).all()


@pytest.mark.parametrize(
    ("who", "expected"),
    [("all", (True, True)), ("for_root", (False, True)), ("at_root", (True, False))],
)
def test_collectives_are_waited_for_where_their_request_is(
    who: Waits, expected: tuple[bool, bool]
) -> None:
    """Begun at 0, by the late rank later; all wait 30 µs after they have begun."""
    late_us = 100.0
    program = Exchange()
    program.late[::2, 0] = program.late[1::2, 1] = late_us * US
    begun = program.posted
    entered = begun + 30 * US
    until = {
        "all": begun.max(axis=1, keepdims=True) + 0 * begun,
        "for_root": begun[:, :1] + 0 * begun,
        "at_root": np.stack([begun.max(axis=1), begun[:, 1]], axis=1),
    }[who]
    left = np.maximum(until, entered) + OPERATION_S
    planted = np.maximum(until - entered, 0).sum(axis=0)
    files = []
    for rank in range(2):
        times = (begun[:, rank], entered[:, rank], left[:, rank])
        made = records(times, (0.0, 0.0), np.ones(CALLS, bool))
        made["root"] = 0
        kind = Instances(1, "MPI_Iany", 4, who, 0, CALLS, 0.0, 0, stored_records(made))
        sites = (site("MPI_Wait", "wait", (), list((left - entered)[:, rank]), HZ),)
        files.append(replace(file_of(rank, 2, kind, "host"), sites=sites))
    rows = told(files)
    assert tuple(rows["resolved"].tolist()) == expected
    assert rows["waiting_s"] == pytest.approx(planted, rel=0.01, abs=1e-6)

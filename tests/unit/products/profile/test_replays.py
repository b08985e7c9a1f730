# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The program of a profile is replayed: its calls become steps, and an iteration of them words for
the kernels."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpigauge.measuring.plan import Plan, Resources, resolve
from mpigauge.measuring.plan.replays import (
    MOST_CALLS,
    RepeatedStep,
    _late_words,
    gaps_s,
    iteration,
    replayed_by,
    words,
)
from mpigauge.model.cards import Cards
from mpigauge.model.errors import UserError
from mpigauge.model.machine import Machine
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.rank_file import Instances
from mpigauge.products.profile.store.replayed import replay_of, save_mix
from mpigauge.products.profile.store.stored import ProfiledJob
from mpigauge.result.replayed import replay_sentences
from mpigauge.result.stats.launches import rows
from mpigauge.runs.store.replays import MixStep, ReplayMix, load_replay, save_replay
from mpigauge.site import topology
from tests import asked
from tests.cells import cell
from tests.profiles import MAIN, PLACES, job, rank_file, site, stored_records
from tests.unit.measuring.plan.test_plan import CARDS, MPICH

BOTH = ((0, 1),)


def step(call: str = "allreduce", calls: int = 100, seconds: float = 0.1, **more: Any) -> MixStep:
    return MixStep(call, more.pop("message_bytes", 8), 0, calls, seconds, **more)


def mix(*steps: MixStep, run_s: float = 1.0, **more: Any) -> ReplayMix:
    """Of two ranks, which spend in MPI what its steps take."""
    mpi_s = sum(each.seconds for each in steps) + sum(s for _, s in more.get("left_out", ()))
    known = {"groups": (BOTH,), "left_out": ()} | more
    return ReplayMix("heat", 2, (run_s, run_s), (mpi_s, mpi_s), steps=steps, **known)


# --- of a profile ---------------------------------------------------------------------------------
def test_collectives_and_messages_of_a_profile_become_steps() -> None:
    found = replay_of(job())
    assert found is not None
    assert (found.ranks, found.run_s) == (2, (1.0, 1.0))
    summed, *sent = found.steps
    # The communicator has the ranks the other way round.
    assert found.groups[summed.group] == ((1, 0),)
    assert (summed.call, summed.calls, summed.message_bytes) == ("allreduce", 100, 8)
    assert summed.seconds == pytest.approx((0.1 + 0.2) / 2)
    # Each rank sends to the other: eight of a kilobyte, two without anything.
    assert {(each.call, each.calls, each.message_bytes, each.messages) for each in sent} == {
        ("send", 8, 1024, ((0, 1), (1, 0))),
        ("send", 2, 0, ((0, 1), (1, 0))),
    }
    assert sum(each.seconds for each in sent) == pytest.approx(20e-3)
    # Nothing that waits is known of these, and Init is not part of what is replayed.
    assert dict(found.left_out) == {"MPI_Waitall": pytest.approx(5e-3)}


def test_messages_under_way_together_are_one_step_with_the_time_of_its_waits() -> None:
    files = []
    for rank in range(2):
        file = rank_file(rank)
        sites = (
            site("MPI_Isend", "send", (MAIN,), [1e-6] * 40),
            site("MPI_Irecv", "receive", (MAIN,), [1e-6] * 40),
            site("MPI_Waitall", "wait", (MAIN,), [1e-3] * 10),
        )
        sent = (0, 1, 1 - rank, layout.Counted.SENT, 11, 0, 40, 40960, 1024, 1024, 1, 0)
        asked_for = (2, 0, -3, layout.Counted.REQUESTS, 4, 0, 10, 80, 8, 8, 0, 0)
        files.append(replace(file, sites=sites, cells=np.array([sent, asked_for], layout.CELL)))
    found = replay_of(ProfiledJob(0, 0, merged(files), PLACES))
    assert found is not None
    (together,) = found.steps
    assert (together.call, together.window, together.calls) == ("nonblocking", 4, 10)
    assert together.seconds == pytest.approx(10e-3 + 80e-6)
    assert found.left_out == ()


def test_waits_for_collectives_are_no_waits_for_messages() -> None:
    """Of 20 waits ten are for a collective, of which every second is kept."""
    records = np.zeros(5, layout.INSTANCE)
    records["index"], records["site"], records["needs"] = 2 * np.arange(5), 2, 1
    files = []
    for rank in range(2):
        sites = (
            site("MPI_Isend", "send", (MAIN,), [1e-6] * 10),
            site("MPI_Iallreduce", "collective", (MAIN,), [1e-6] * 10),
            site("MPI_Wait", "completion", (MAIN,), [1e-3] * 20),
        )
        sent = (0, 1, 1 - rank, layout.Counted.SENT, 11, 0, 10, 10240, 1024, 1024, 1, 0)
        asked_for = (2, 0, -3, layout.Counted.REQUESTS, 1, 0, 20, 20, 1, 1, 0, 0)
        kept = Instances(1, "MPI_Iallreduce", 4, "all", 0, 10, 0.0, 1, stored_records(records))
        cells = np.array([sent, asked_for], layout.CELL)
        files.append(replace(rank_file(rank), sites=sites, cells=cells, instances=(kept,)))
    found = replay_of(ProfiledJob(0, 0, merged(files), PLACES))
    assert found is not None
    (message,) = found.steps
    assert (message.call, message.window, message.calls) == ("nonblocking", 1, 10)
    assert message.seconds == pytest.approx(10e-3 + 10e-6)
    assert dict(found.left_out) == {
        "MPI_Wait": pytest.approx(10e-3),
        "MPI_Iallreduce": pytest.approx(10e-6),
    }


def test_messages_too_large_for_a_replay_are_left_out_with_their_time() -> None:
    """Of the ten messages of each rank eight are of 4 GiB."""
    files = []
    for rank in range(2):
        file = rank_file(rank)
        cells = file.cells.copy()
        cells["amount"][1], cells["least"][1], cells["most"][1] = 8 << 32, 1 << 32, 1 << 32
        files.append(replace(file, cells=cells))
    found = replay_of(ProfiledJob(0, 0, merged(files), PLACES))
    assert found is not None
    assert [(each.call, each.message_bytes) for each in found.steps] == [
        ("allreduce", 8),
        ("send", 0),
    ]
    assert dict(found.left_out)["MPI_Send"] == pytest.approx(20e-3, rel=1e-3)


def test_a_profile_without_one_of_its_ranks_is_not_replayed(tmp_path: Path) -> None:
    alone = ProfiledJob(0, 0, merged([rank_file(0)]), PLACES)
    assert replay_of(alone) is None
    save_mix(alone, tmp_path)
    assert load_replay(tmp_path) is None


# --- stored ---------------------------------------------------------------------------------------
def test_the_launch_with_the_time_in_the_middle_is_replayed(tmp_path: Path) -> None:
    for launch, seconds in enumerate((0.3, 0.1, 0.2)):
        save_replay(tmp_path, launch, 0, mix(step(seconds=seconds)))
    # A job beside it that calls less.
    save_replay(tmp_path, 2, 1, mix(step(calls=1, seconds=0.2)))
    found = load_replay(tmp_path)
    assert found is not None
    assert found == replace(mix(step(seconds=0.2)), run=tmp_path.name)


def test_damaged_files_and_those_of_later_versions_are_named(tmp_path: Path) -> None:
    save_replay(tmp_path, 0, 0, mix(step()))
    (path,) = (tmp_path / "profile").iterdir()
    whole = json.loads(path.read_text())
    path.write_text(json.dumps(whole | {"schema": 99}))
    with pytest.raises(UserError, match="was written by a newer mpigauge"):
        load_replay(tmp_path)
    path.write_text('{"schema": 1}')
    with pytest.raises(UserError, match="is damaged: 'ranks'"):
        load_replay(tmp_path)


# --- an iteration ---------------------------------------------------------------------------------
def test_numbers_of_calls_are_divided_by_what_divides_all() -> None:
    steps = iteration(mix(step(calls=3000), step("bcast", calls=1000)))
    assert [(each.step.call, each.times) for each in steps] == [("allreduce", 3), ("bcast", 1)]


CHEAP = step("bcast", calls=4, seconds=1e-9)


@pytest.mark.parametrize(
    ("steps", "run_s", "times"),
    [
        ((step(calls=7996), CHEAP), 0.2, [1999, 1]),  # 2000 calls and 50 ms: the most
        ((step(calls=8000), CHEAP), 0.2, [1999, 1]),
        ((step(calls=400), CHEAP), 0.2, [100, 1]),
        ((step(calls=400), CHEAP), 0.21, [95, 1]),
        # What a number of the rarest calls from 1 to 8 makes, where rounding moves least.
        ((step(calls=2_123_646, seconds=0.001), step(calls=11_089, seconds=0.5)), 1.0, [1532, 8]),
        ((step(calls=2_453_789, seconds=0.001), step(calls=21_773, seconds=0.5)), 1.0, [1982, 18]),
    ],
)
def test_an_iteration_has_two_thousand_calls_and_fifty_milliseconds_at_most(
    steps: tuple[MixStep, ...], run_s: float, times: list[int]
) -> None:
    assert [each.times for each in iteration(mix(*steps, run_s=run_s))] == times


@pytest.mark.parametrize(("seconds", "stay"), [(0.05, 1), (0.0501, 2)])
def test_calls_are_rare_where_they_take_a_twentieth_at_most(seconds: float, stay: int) -> None:
    made = mix(step(calls=1_000_003, seconds=1 - seconds), step("barrier", 7, seconds))
    assert len(iteration(made)) == stay


def test_the_dearest_five_hundred_steps_are_replayed_in_their_order() -> None:
    many = [step(message_bytes=n, seconds=0.5 if n == 7 else 1.0) for n in range(501)]
    assert [each.step.message_bytes for each in iteration(mix(*many))] == [
        n for n in range(501) if n != 7
    ]


def test_lateness_of_the_dearest_steps_has_forty_thousand_letters() -> None:
    def late(seconds: float, rows: int, *last: float) -> RepeatedStep:
        every = ((0.0, 0.0),) * (rows - len(last) // 2) + ((last,) if last else ())
        return RepeatedStep(step(seconds=seconds, lateness_s=every), 1)

    full, over = late(1, 10_000, 0.0, 1e-5), late(1, 10_000, 1e-5, 1e-5)
    assert len(_late_words([full])[0]) == 40_000
    assert _late_words([over]) == {}
    none = RepeatedStep(step(), 1)
    dear, small = late(2, 9_999), late(1, 1)
    left = _late_words([small, none, dear, late(1, 1), late(0.5, 1)])
    assert left == {2: "_".join(["0+0"] * 9_999), 0: "0+0"}
    assert list(left) == [2, 0]


def test_words_have_a_hundred_thousand_letters_at_most() -> None:
    made = replace(mix(step()), run="")
    room = 100_000 - len(words(made))
    assert len(words(replace(made, run="a" * room))) == 100_000
    with pytest.raises(UserError, match="in too many ways"):
        words(replace(made, run="a" * (room + 1)))


def test_calls_too_rare_for_an_iteration_are_left_out_with_their_share() -> None:
    made = mix(
        step(calls=1_000_003, seconds=0.9),
        step("barrier", calls=7, seconds=0.01),
        left_out=(("MPI_File_write", 0.09),),
        run_s=20.0,
    )
    (only,) = iteration(made)
    assert only.step.call == "allreduce"
    assert only.times <= MOST_CALLS
    of = replayed_by(made)
    assert of is not None
    assert of.covered == pytest.approx(0.9)
    assert of.mpi_s == pytest.approx(of.calls * 0.9 / 1_000_003)
    assert dict(of.left_out) == {
        "MPI_File_write": pytest.approx(0.09),
        "in calls too rare for an iteration": pytest.approx(0.01),
    }


def test_rare_calls_that_take_much_stay() -> None:
    steps = iteration(mix(step(calls=5000), step("alltoall", calls=3, seconds=0.1)))
    assert [each.times >= 1 for each in steps if each.step.call == "alltoall"] == [True]


def test_what_ranks_compute_lies_between_their_steps() -> None:
    """Rank 1 computes less, and lateness is a part of it."""
    late = step(calls=100, seconds=0.1, lateness_s=((0.0, 4e-3),))
    made = replace(mix(late), run_s=(1.1, 1.1), mpi_s=(0.1, 0.6))
    steps = iteration(made)
    assert gaps_s(made, steps, {}) == pytest.approx([10e-3, 5e-3])
    assert gaps_s(made, steps, {0: "0+4000"}) == pytest.approx([10e-3, 1e-3])


def test_words_for_the_kernels() -> None:
    late = step(calls=2, lateness_s=((0.0, 5e-6), (3.25e-6, 0.0)))
    sent = step("send", calls=1, messages=((0, 1),), message_bytes=1024)
    made = mix(late, sent, run_s=0.2)
    gap = (0.2 - 0.2) / 3
    assert gap == 0
    assert words(replace(made, run="a run=1")) == (
        "a_run_1=2;0+1;0+0;allreduce:8:0:0:2/send:1024:0:0:1:1:0-1;0:0+5_3.25+0"
    )


def test_words_that_no_command_line_holds_are_refused() -> None:
    many = [
        step(
            "send", messages=tuple((n, (n + 1 + at) % 2000) for n in range(2000)), message_bytes=at
        )
        for at in range(10)
    ]
    wide = replace(mix(*many), ranks=2000, run_s=(1.0,) * 2000, mpi_s=(0.5,) * 2000)
    with pytest.raises(UserError, match="in too many ways to be replayed"):
        words(wide)


# --- a plan ---------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def machine(repository: Path) -> Machine:
    return topology.read(repository / "tests" / "machines" / "epyc-7302-two-sockets.txt")


def cards() -> Cards:
    (first, *_) = CARDS
    own = replace(first, suite="REPLAY", name="Replay", options=("profile",), ranks="any")
    return replace(CARDS, benchmarks=(*CARDS, own))


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    folder = tmp_path / "heat"
    folder.mkdir()
    save_replay(folder, 0, 0, mix(step()))
    (folder / "run.json").write_text('{"format": 1, "created": "2026-01-01"}')
    return folder


def plan(machine: Machine, *benchmarks: str, **raw: Any) -> Plan:
    request = asked.request({"benchmarks": benchmarks} | raw)
    return resolve(request, cards(), Resources(machine), MPICH)


def test_as_many_ranks_as_the_program_had(machine: Machine, profile: Path) -> None:
    made = plan(machine, "Replay", profile=str(profile))
    assert {part.ranks for part in made.parts} == {(2,)}
    assert made.suite_options["profile"].startswith("heat=2;0+1;")
    assert made.replay is not None
    assert made.replay.profile == "heat"
    assert Plan.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_what_cannot_be_replayed_is_refused(machine: Machine, profile: Path) -> None:
    with pytest.raises(UserError, match=r"name one that `mpigauge profile` made: --replay RUN"):
        plan(machine, "Replay")
    with pytest.raises(UserError, match="had 2 ranks; replay it on as many with --ranks 2"):
        plan(machine, "Replay", profile=str(profile), ranks="4")
    with pytest.raises(UserError, match="--classic and --replay contradict: a replay has the"):
        plan(machine, "Replay", profile=str(profile), classic=True)
    save_replay(profile, 0, 0, mix(left_out=(("MPI_Put", 0.5),)))
    with pytest.raises(UserError, match="nothing of what the program of heat calls can be"):
        plan(machine, "Replay", profile=str(profile))
    next((profile / "profile").iterdir()).unlink()
    with pytest.raises(UserError, match="does not have the calls of all ranks of a program"):
        plan(machine, "Replay", profile=str(profile))


# --- beside its profile ---------------------------------------------------------------------------
def test_a_replay_says_how_close_it_is_and_what_it_leaves_out() -> None:
    made = mix(step(calls=10, seconds=20e-6), left_out=(("MPI_Put", 5e-6), ("MPI_Get", 1e-8)))
    of = replayed_by(made)
    assert of is not None
    other = cell()
    own = cell("Replay", suite="REPLAY", message_bytes=-1, time_own_mean_s=3e-6)
    close, left = replay_sentences(rows([own, other]), json.loads(json.dumps(asdict(of))))
    assert close == (
        "replayed, an iteration of heat (1 call) spends 3.00 µs in MPI, in its profile 2.00 µs: "
        "1.50 times as long, too far to stand for the program: one of the two was disturbed or has "
        "other settings, or its ranks wait for each other otherwise than the program's."
    )
    near, _ = replay_sentences(rows([replace(own, time_own_mean_s=2.2e-6)]), asdict(of))
    assert near.endswith("in its profile 2.00 µs: 1.10 times as long.")
    assert left.startswith("this replays 80 % of the program's time in MPI;")
    assert left.endswith("; left out: MPI_Put (20 %).")
    assert replay_sentences(rows([other]), json.loads(json.dumps(asdict(of)))) == []

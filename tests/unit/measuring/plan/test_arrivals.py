# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Patterns of arrivals (`--arrival`): what users write becomes words for the kernels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mpigauge.measuring.plan import Plan, Resources, resolve
from mpigauge.measuring.plan.arrivals import MOST_LETTERS, vectors
from mpigauge.model.cards import Cards
from mpigauge.model.errors import UserError
from mpigauge.model.machine import Machine
from mpigauge.runs.store.arrivals import ArrivalPattern, save_arrivals
from mpigauge.site import topology
from tests import asked
from tests.unit.measuring.plan.test_plan import CARDS, MPICH
from tests.unit.products.profile.test_profile_lateness import one_late

ARRIVING = ("Allreduce", "Bcast", "Barrier")


@pytest.fixture(scope="module")
def machine(repository: Path) -> Machine:
    return topology.read(repository / "tests" / "machines" / "epyc-7302-two-sockets.txt")


def cards() -> Cards:
    """Of the tests of plans, with the blocking collectives as they are."""
    made = [
        replace(card, options=("arrival",)) if card.name in ARRIVING else card for card in CARDS
    ]
    return replace(CARDS, benchmarks=tuple(made))


def plan(machine: Machine, *benchmarks: str, **raw: Any) -> Plan:
    request = asked.request({"benchmarks": benchmarks} | raw)
    return resolve(request, cards(), Resources(machine), MPICH)


def told(machine: Machine, arrival: str) -> str:
    return plan(machine, "Allreduce", ranks="2", arrival=arrival).suite_options["arrival"]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A run that says when two ranks came to MPI_Allreduce, mostly at another size."""
    folder = tmp_path / "old run=1"
    folder.mkdir()
    few = replace(one_late(), message_bytes=64, seconds=0.1, lateness_s=np.zeros((200, 2), "f4"))
    save_arrivals(folder, 0, 0, [few, one_late()])
    (folder / "run.json").write_text('{"format": 1, "created": "2026-01-01"}')
    return folder


def test_a_pattern_is_measured_beside_all_ranks_at_once(machine: Machine) -> None:
    assert told(machine, "late:1:50us") == "together,late:1:50"


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("late:0:0.5ms", "late:0:500"),
        ("uniform:100", "uniform:100"),
        ("sorted:1s", "sorted:1000000"),
        ("uniform:0.5µs", "uniform:0.5"),
        ("late:01:5us", "late:1:5"),
    ],
)
def test_times_in_any_unit(machine: Machine, said: str, word: str) -> None:
    assert told(machine, said) == f"together,{word}"


def test_each_pattern_once_in_their_order(machine: Machine) -> None:
    said = "sorted:5us, late:1:5us,sorted:0.005ms,together"
    assert told(machine, said) == "together,sorted:5,late:1:5"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("soon", "--arrival: 'soon' has no arrival times; write late:1:50us"),
        ("late:50us", "--arrival: 'late:50us' has no arrival times"),
        ("late:x:50us", "'late:x:50us' has no arrival times"),
        ("profile:", "'profile:' has no arrival times"),
        ("uniform:1:5us", "'uniform:1:5us' has no arrival times"),
        ("late:1:", "'late:1:' has no time between nothing and a second; write such as 50us"),
        ("uniform:0", "'uniform:0' has no time between nothing and a second"),
        ("sorted:2s", "'sorted:2s' has no time between nothing and a second"),
        ("sorted:5 years", "'sorted:5 years' has no time between nothing and a second"),
        ("late:2:5us", "--arrival late:2:5: there is no rank 2 of 2; name one from 0 to 1"),
        ("profile:/no/where", "/no/where"),
    ],
)
def test_bad_patterns_are_refused_in_a_line(machine: Machine, said: str, sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        told(machine, said)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_late_rank_that_some_groups_have(machine: Machine) -> None:
    made = plan(machine, "Allreduce", ranks="2,4", arrival="late:3:5us")
    assert made.suite_options["arrival"] == "together,late:3:5"


def test_what_contradicts_it(machine: Machine) -> None:
    for more, sentence in (
        ({"classic": True}, "--classic and --arrival contradict: in the classic mode ranks come"),
        ({"sync": "barrier"}, "--arrival and --sync barrier contradict: only by a common clock"),
    ):
        with pytest.raises(UserError, match=sentence):
            plan(machine, "Allreduce", ranks="2", arrival="late:1:5us", **more)
    assert plan(machine, "Allreduce", ranks="2", arrival="late:1:5us", sync="clock").sync == "clock"


def test_it_is_for_collectives(machine: Machine) -> None:
    with pytest.raises(UserError, match=r"--arrival has no effect on PingPong; it is for MPI1"):
        plan(machine, "PingPong", arrival="uniform:5us")


def test_vectors_of_a_profile_on_as_many_ranks(machine: Machine, profile: Path) -> None:
    made = plan(machine, "Allreduce", arrival=f"profile:{profile}")
    assert made.parts[0].ranks == (2,)
    usual, word = made.suite_options["arrival"].split(",")
    name, _, text = word.partition("=")
    assert (usual, name) == ("together", "profile:old_run_1")
    lines = text.split("/")
    assert len(lines) == 200
    assert lines[:2] == ["30.0+0.0", "0.0+80.0"]


def test_groups_that_the_profile_does_not_know(machine: Machine, profile: Path) -> None:
    with pytest.raises(UserError, match=r"is of 2 ranks; measure as many with --ranks 2"):
        plan(machine, "Allreduce", ranks="4", arrival=f"profile:{profile}")


def test_collectives_that_the_profile_does_not_know(machine: Machine, profile: Path) -> None:
    with pytest.raises(UserError, match=r"no arrival times at Bcast; it has those of Allreduce"):
        plan(machine, "Bcast", arrival=f"profile:{profile}")
    with pytest.raises(UserError, match=r"measure Allreduce and Bcast one by one"):
        plan(machine, "Allreduce", "Bcast", arrival=f"profile:{profile}")


def test_a_run_that_says_nothing_of_arrivals(machine: Machine, profile: Path) -> None:
    for file in (profile / "profile").iterdir():
        file.unlink()
    with pytest.raises(UserError, match=r"has no arrival times at collectives"):
        plan(machine, "Allreduce", arrival=f"profile:{profile}")


def test_of_many_ranks_as_many_vectors_as_a_command_line_holds() -> None:
    lateness = np.full((256, 512), 123.4e-6, np.float32)
    large: ArrivalPattern = replace(one_late(), lateness_s=lateness, members=tuple(range(512)))
    text = vectors("profile:x", large)
    assert len(text) <= MOST_LETTERS + len("profile:x=")
    kept = text.partition("=")[2].split("/")
    assert len(kept) > 10
    assert all(line.count("+") == 511 for line in kept)

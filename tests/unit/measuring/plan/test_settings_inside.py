# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which settings arms of a sweep can change while the MPI runs, and what the kernels are told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mpigauge.measuring.plan.kernel import kernel_words
from mpigauge.measuring.plan.plan import LaunchPlan, Plan
from mpigauge.model.knob import Knob
from mpigauge.model.mpi import Mpi
from mpigauge.products.sweep.plan import swept_inside
from mpigauge.site.mpi.settings.inside import OutsideError, written
from tests.process.test_campaign import PART, PLAN
from tests.unit.site.mpi.test_transports import mpi

KNOBS = (
    Knob("CVAR_LIMIT", "CVAR_LIMIT", kind="int", read="call"),
    Knob("CVAR_WAY", "CVAR_WAY", kind="int", read="communicator"),
    Knob("CVAR_FILE", "CVAR_FILE", kind="string", read="call"),
    Knob("CVAR_START", "CVAR_START", kind="int", read="start"),
    Knob("CVAR_DARK", "CVAR_DARK", kind="int"),
    Knob("OMPI_MCA_way", "way", kind="int", read="call"),
    Knob("ONLY_VARIABLE", "", kind="int", read="call"),
)


def ask(_: Mpi, variable: str, word: str) -> str:
    return {("CVAR_WAY", "ring"): "7"}[variable, word]


def test_words_become_the_numbers_of_the_library() -> None:
    arms = [{}, {"CVAR_LIMIT": "8192", "CVAR_WAY": "ring"}, {"CVAR_FILE": "a b"}]
    assert written(arms, KNOBS, mpi("mpich"), ask) == [
        {}, {"CVAR_LIMIT": "8192", "CVAR_WAY": "7"}, {"CVAR_FILE": "a b"},
    ]  # fmt: skip


def test_names_become_those_of_control_variables() -> None:
    of = replace(mpi("openmpi"), abi="ompi")
    assert written([{"OMPI_MCA_way": "3"}, {"way": "4"}], KNOBS, of) == [{"way": "3"}, {"way": "4"}]
    with pytest.raises(OutsideError, match=r"way=ring is a word, and openmpi .* wants"):
        written([{"way": "ring"}], KNOBS, of)


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ({"CVAR_START": "1"}, "CVAR_START is read when MPI starts"),
        ({"CVAR_DARK": "1"}, "CVAR_DARK is read at an unknown time"),
        ({"ONLY_VARIABLE": "1"}, "ONLY_VARIABLE is not a control variable"),
        ({"NOBODY": "1"}, "NOBODY is not a control variable"),
        ({"CVAR_FILE": "a|b"}, "holds one of"),
    ],
)
def test_why_arms_need_launches_of_their_own(arm: dict[str, str], said: str) -> None:
    with pytest.raises(OutsideError, match=said):
        written([{"CVAR_LIMIT": "1"}, arm], KNOBS, mpi("mpich"), ask)


def test_what_the_kernels_are_told() -> None:
    plan = swept_inside(PLAN, [("", {}), ("A=1 B=x", {"A": "1", "B": "7"}), ("control", {})])
    words = kernel_words(plan, LaunchPlan(0, plan.parts[0], 1))
    assert words[words.index("--arms") + 1] == "~|A=1 B=x~A=1;B=7|control~"
    assert plan.parts[0].weight == 3 * PART.weight
    assert Plan.from_json(plan.to_json()).parts == plan.parts

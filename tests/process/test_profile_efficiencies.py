# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""POP's efficiencies of generated traces, whose ideal network is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.efficiencies import Efficiencies, efficiencies_of
from mpigauge.products.profile.analyse.iterations import iterations_of
from mpigauge.products.profile.match.kept import is_kept
from mpigauge.products.profile.match.merge import merged
from mpigauge.products.profile.read.rank_file import RankFile, Region, Timeline
from mpigauge.products.profile.store.stored import ProfiledJob
from tests.process.test_profile_waiting import OPERATION_S, US, Program
from tests.profiles import site

COMPUTED_S = 20 * US
"""The computation before each call."""
EXACT = 1e-3
CALLS = 1000


def balanced(program: Program) -> None:
    program.late[:] = 100 * US


def imbalanced(program: Program) -> None:
    program.late[:] = np.arange(program.ranks) * 100 * US


def serialised(program: Program) -> None:
    """Each rank computes in turn, so that balance is perfect, and the others wait."""
    turn = np.arange(program.calls) % program.ranks
    program.late[np.arange(program.calls), turn] = 200 * US


def both(program: Program) -> None:
    imbalanced(program)
    turn = np.arange(program.calls) % program.ranks
    program.late[np.arange(program.calls), turn] += 50 * US


def account_of(files: list[RankFile]) -> Account:
    return Account(ProfiledJob(0, 0, merged(files), {}))


def traced(program: Program, level: int = 0, **more: object) -> list[RankFile]:
    _, left = program.run()
    program.rng = np.random.default_rng(1)
    files = program.files(level=level)
    return [replace(file, run_s=float(left.max()), **more) for file in files]  # type: ignore[arg-type]


def planted(program: Program) -> tuple[float, float, float, float]:
    """Load balance, communication efficiency, serialisation and transfer, by the definitions."""
    computed = COMPUTED_S + program.late
    own, ideal = computed.sum(axis=0), float(computed.max(axis=1).sum())
    run = ideal + program.calls * OPERATION_S
    longest = float(own.max())
    return float(own.mean()) / longest, longest / run, longest / ideal, ideal / run


def agrees(found: Efficiencies, program: Program) -> None:
    balance, communication, serialisation, transfer = planted(program)
    assert found.load_balance == pytest.approx(balance, abs=EXACT)
    assert found.communication == pytest.approx(communication, abs=EXACT)
    assert found.parallel == pytest.approx(balance * communication, abs=EXACT)
    assert found.serialisation.value == pytest.approx(serialisation, abs=EXACT)
    assert found.transfer.value == pytest.approx(transfer, abs=EXACT)
    assert found.serialisation.low <= found.serialisation.value <= found.serialisation.high
    assert found.transfer.low <= found.transfer.value <= found.transfer.high


@pytest.mark.parametrize("plant", [balanced, imbalanced, serialised, both])
@pytest.mark.parametrize("ranks", [2, 5])
def test_efficiencies_are_those_of_the_trace(plant: Callable[[Program], None], ranks: int) -> None:
    program = Program(ranks, CALLS)
    plant(program)
    agrees(efficiencies_of(account_of(traced(program))), program)


@pytest.mark.parametrize("plant", [imbalanced, serialised])
def test_they_are_so_if_some_calls_are_recorded(plant: Callable[[Program], None]) -> None:
    program = Program(4, 4000)
    plant(program)
    found = efficiencies_of(account_of(traced(program, level=3)))
    agrees(found, program)


def test_a_region_has_its_own() -> None:
    program = Program(3, CALLS)
    both(program)
    _, left = program.run()
    program.rng = np.random.default_rng(1)
    regions = (Region("solve", 10, float(left.max())),)
    files = []
    for file in traced(program, regions=regions):
        sites = tuple(replace(each, region="solve/inner") for each in file.sites)
        files.append(replace(file, sites=sites, run_s=2 * file.run_s))
    account = account_of(files)
    found = efficiencies_of(account, "solve")
    agrees(found, program)
    assert found.entered == 10
    assert efficiencies_of(account).communication > found.communication


def test_iterations_have_their_own() -> None:
    """By turns in the first half, together in the second."""
    program = Program(3, CALLS)
    serialised(program)
    program.late[CALLS // 2 :] = 100 * US
    steps = Timeline(0, 0.0, 1e-3, np.ones(1000))
    account = account_of(traced(program, timelines=(steps,)))
    of = iterations_of(account)
    assert of is not None
    assert of.differ
    computed = COMPUTED_S + program.late[1:]
    edges = np.linspace(0, CALLS - 1, len(of.stretches) + 1).astype(int)
    for each, begin, end in zip(of.stretches, edges, edges[1:], strict=False):
        own, ideal = computed[begin:end].sum(axis=0), computed[begin:end].max(axis=1).sum()
        run = ideal + (end - begin) * OPERATION_S
        assert each.load_balance.value == pytest.approx(own.mean() / own.max(), abs=EXACT)
        assert each.communication.value == pytest.approx(own.max() / run, abs=EXACT)
        assert each.serialisation.value == pytest.approx(own.max() / ideal, abs=EXACT)
        assert each.transfer.value == pytest.approx(ideal / run, abs=EXACT)


def test_parts_are_unknown_if_too_many_calls_cannot_be_split() -> None:
    program = Program(2, CALLS)
    serialised(program)
    files = traced(program)
    own_s = sum(each.seconds for each in files[0].sites)
    for share, is_split in ((0.05, True), (0.2, False)):
        other = site("MPI_Send", "send", (), [share * own_s])
        mixed = [replace(file, sites=(*file.sites, other)) for file in files]
        found = efficiencies_of(account_of(mixed))
        assert found.is_split is is_split
        assert found.left_out == pytest.approx(share / (1 + share), rel=0.05)


@pytest.mark.parametrize("level", [0, 2])
def test_the_timeline_has_the_recorded_calls_with_their_waiting(level: int) -> None:
    program = Program(3, CALLS)
    imbalanced(program)
    calls = merged(traced(program, level=level)).timeline.calls
    program.rng = np.random.default_rng(1)
    entered, left = program.run()
    kept = is_kept(np.arange(CALLS), level)
    for rank in range(3):
        own = calls[calls["rank"] == rank]
        assert own["entered_s"] == pytest.approx(entered[kept, rank], abs=1e-8)
        assert own["took_s"] == pytest.approx((left - entered)[kept, rank], abs=1e-8)
        late = entered.max(axis=1) - entered[:, rank]
        assert own["waiting_s"] == pytest.approx(late[kept], abs=1e-8)

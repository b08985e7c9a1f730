# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What others take of the cores: the tick is found, its costs foretold, and the page says so."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.model.detours import hit_ratio, undisturbed_s
from mpigauge.model.record import Noise, decode
from mpigauge.products.node.show_detours import MOST_CORES, noise_lines
from mpigauge.result.node.detours import Cores, cores
from mpigauge.result.stats.detours import classes, slowdown, tick
from tests import cells, planted
from tests.planted import ticking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.detours import Detours


def heard(*noise: Noise) -> Cores:
    found = cores(noise)
    assert found is not None
    return found


def only(noise: Noise) -> Detours:
    return heard(noise).cores[0].detours


def test_a_stretch_with_few_detours_tells_nothing_of_a_tick() -> None:
    """Nor does it hide the one that the others hear; three tell more than none."""
    core = only(ticking())
    found = tick(core)
    assert found is not None
    for kept in (0, 1, 2):
        first = core.stretches[0]
        short = replace(first, starts_s=first.starts_s[:kept], lengths_s=first.lengths_s[:kept])
        assert tick(replace(core, stretches=(short,))) is None
        assert tick(replace(core, stretches=(*core.stretches, short))) == found


# --- records --------------------------------------------------------------------------------
def test_records_of_older_versions_have_no_single_detours() -> None:
    old = cells.line("noise", launch=0, rank=0, when="before", cpu=0, seconds=0.1, detours=12,
                     lost_ratio=0.01, longest_s=1e-4)  # fmt: skip
    read = decode(old)
    assert isinstance(read, Noise)
    assert read.start_ns == ()
    assert cores([read]) is None


def test_what_a_benchmark_listened_to_comes_before_the_short_looks() -> None:
    short = replace(ticking(seconds=0.1), when="before")
    assert heard(short, ticking()).cores[0].detours.seconds == 1.0
    both = heard(short, replace(short, when="after"))
    assert both.cores[0].detours.seconds == pytest.approx(0.2)


def test_cores_are_told_by_host_and_number() -> None:
    ranks = [*planted.ranks(["0"], "n1"), replace(planted.ranks(["0"], "n2")[0], rank=1)]
    noise = [ticking(), replace(ticking(), rank=1)]
    found = cores(noise, ranks)
    assert found is not None
    assert [(core.host, core.cpu) for core in found.cores] == [("n1", 0), ("n2", 0)]
    assert found.several_hosts


# --- the tick -------------------------------------------------------------------------------
@pytest.mark.parametrize("hz", [100.0, 250.0, 300.0, 1000.0])
def test_the_tick_is_found_among_others(hz: float) -> None:
    found = tick(only(ticking(hz, others_s=[30e-6] * 60)))
    assert found is not None
    assert found.hz == hz
    assert found.length_s == pytest.approx(19e-6, rel=0.05)
    assert found.heard_ratio > 0.9


def test_a_tick_is_found_in_short_looks_of_unlike_phase() -> None:
    looks = [replace(ticking(seconds=0.1, seed=i), when="before", launch=i) for i in range(6)]
    found = heard(*looks).cores[0].tick
    assert found is not None
    assert found.hz == 250.0


def test_no_tick_is_claimed_where_there_is_none() -> None:
    for seed in range(20):
        assert tick(only(ticking(length_s=0, others_s=[20e-6] * 400, seed=seed))) is None
    assert tick(only(ticking(hz=4, length_s=1e-5))) is None


def test_a_tick_that_is_another_program_s_turn_is_none() -> None:
    """Somebody is given the core at each fifth tick, and the others cannot be heard."""
    assert tick(only(ticking(hz=50.0, length_s=4e-3))) is None


# --- what follows from it -------------------------------------------------------------------
def test_detours_are_sorted_by_length() -> None:
    short, long = classes(only(ticking(others_s=[2e-3] * 5)))
    assert (short.least_s, short.per_second) == (1e-5, 250)
    assert (long.least_s, long.per_second) == (1e-3, 5)
    assert long.lost_ratio == pytest.approx(0.01)


def test_many_cores_are_hit_as_if_independent() -> None:
    assert hit_ratio(20e-6, [500]) == pytest.approx(1 - math.exp(-0.01))
    assert hit_ratio(20e-6, [500] * 1000) == pytest.approx(1, abs=1e-4)
    assert hit_ratio(undisturbed_s(0.99, [500, 700]), [500, 700]) == pytest.approx(0.01)
    assert undisturbed_s(0.99, [0.0]) == math.inf


def simulated(work_s: float, per_second: float, lengths: Sequence[float], many: int) -> float:
    """The mean time of the slowest of many, each with detours of these lengths at random."""
    random = np.random.default_rng(5)
    counts = random.poisson(per_second * work_s, size=(2000, many))
    delays = np.zeros_like(counts, dtype=float)
    for more in range(int(counts.max())):
        delays += np.where(counts > more, random.choice(lengths, size=counts.shape), 0.0)
    return 1 + float(delays.max(axis=1).mean()) / work_s


@pytest.mark.parametrize("many", [1, 16, 256])
def test_a_collective_takes_as_much_longer_as_in_a_simulation(many: int) -> None:
    lengths = [20e-6] * 400 + [100e-6] * 40 + [2e-3] * 4
    core = only(ticking(length_s=0, others_s=lengths))
    rate = core.count / (core.seconds - core.lost_s)
    expected = simulated(20e-6, rate, lengths, many)
    assert slowdown(20e-6, [core], many) == pytest.approx(expected, rel=0.15)


def test_long_work_loses_at_least_what_the_worst_core_loses() -> None:
    quiet, loud = only(ticking(length_s=1e-6)), only(ticking(length_s=2e-3))
    assert slowdown(10.0, [quiet, loud], 2) == pytest.approx(2.0, rel=0.05)


# --- page -----------------------------------------------------------------------------------
def text(*noise: Noise) -> str:
    return "\n".join(noise_lines(heard(*noise)))


def test_the_page_names_the_tick_and_foretells_a_collective() -> None:
    shown = text(ticking(), replace(ticking(cpu=1, seed=2), stolen_s=0.03))
    assert "core 0" in shown
    assert "10 µs to 100 µs: 250/s" in shown
    assert "3.0 %" in shown
    assert "tick of the kernel: 250 Hz on 2 of 2 cores" in shown
    assert "samples shorter than 20.0 µs on 2 cores" in shown
    assert "over 1024 cores like these: a detour begins in 99 %" in shown


def test_the_page_is_undecided_where_no_tick_is_heard() -> None:
    shown = text(ticking(length_s=0, others_s=[2e-2, 1e-5]))
    assert "tick of the kernel: UNDECIDED" in shown
    assert "over 10 ms: 1.00/s" in shown


def test_of_many_cores_the_worst_are_shown() -> None:
    quiet = [ticking(cpu=cpu, length_s=2e-6) for cpu in range(MOST_CORES + 3)]
    shown = text(*quiet, ticking(cpu=99))
    assert "core 99" in shown
    assert "and 4 cores with less" in shown

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The GPUs of a run's ranks, and warnings about their state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.grouping import grouped
from mpigauge.model.units import listed, many, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpigauge.model.record import Rank
    from mpigauge.model.records import GpuState


class GpuOfRanks(NamedTuple):
    """A GPU and the ranks whose buffers were on it."""

    host: str
    bus: str
    name: str
    link: str
    """Its PCIe link: 32.0 GT/s x16; empty: unknown."""
    ranks: tuple[int, ...]


def gpus_of(ranks: Iterable[Rank]) -> tuple[GpuOfRanks, ...]:
    """The GPUs of the ranks of all launches, in the order of their first ranks."""
    using = sorted((rank for rank in ranks if rank.gpu.index >= 0), key=lambda rank: rank.rank)
    gpus = grouped(using, lambda rank: (rank.host, rank.gpu.bus))
    return tuple(
        GpuOfRanks(host, bus, of[0].gpu.name, of[0].gpu.link, _numbers(of))
        for (host, bus), of in gpus.items()
    )


def gpu_sentences(states: Iterable[GpuState]) -> Iterator[str]:
    """A sentence for each GPU whose clock was held down, or which other processes used."""
    for bus, of in grouped(states, lambda state: state.bus).items():
        if throttled := [state for state in of if state.throttle]:
            yield _throttled(bus, throttled)
        if busy := [state for state in of if state.others]:
            most = max(state.others for state in busy)
            yield (
                f"The GPU at {bus} was used by {many(most, 'other process')} "
                f"{_when(busy)}: the results are of a shared GPU."
            )


def _throttled(bus: str, states: list[GpuState]) -> str:
    words = dict.fromkeys(word for state in states for word in state.throttle.split(","))
    slowest = min(states, key=lambda state: (math.isnan(state.clock_hz), state.clock_hz))
    clock = ""
    if slowest.clock_hz < slowest.clock_max_hz:
        now, most = slowest.clock_hz / 1e9, slowest.clock_max_hz / 1e9
        clock = f", at {number(now)} GHz of {number(most)} GHz"
    return f"The clock of the GPU at {bus} was held down by {listed(words)} {_when(states)}{clock}."


def _when(states: Iterable[GpuState]) -> str:
    """The moments of the states: before launches 0 and 1, after launch 2."""
    moments = grouped(states, lambda state: state.when)
    phrases = []
    for when, of in moments.items():
        launches = sorted({state.launch for state in of})
        noun = "launch" if len(launches) == 1 else "launches"
        phrases.append(f"{when} {noun} {listed(map(str, launches))}")
    return ", ".join(phrases)


def _numbers(ranks: Iterable[Rank]) -> tuple[int, ...]:
    return tuple(sorted({rank.rank for rank in ranks}))

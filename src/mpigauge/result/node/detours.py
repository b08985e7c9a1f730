# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The noise that a run measured on its cores, and its effect on samples and collectives."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.detours import Detours, Stretch, hit_ratio, undisturbed_s
from mpigauge.result.stats.detours import Tick, classes, slowdown, tick

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.record import Noise, Rank
    from mpigauge.result.stats.detours import Class

MEASURED = "measured"
"""Noise that a benchmark sampled during the launch; other noise is from before or after it."""
UNDISTURBED = 0.99


@dataclass(frozen=True)
class Core:
    host: str
    cpu: int
    detours: Detours
    stolen_ratio: float
    """The share of time that the hypervisor gave to others, as the system counts it."""
    waited_ratio: float
    """The share of time in which other processes of this system had the core."""
    tick: Tick | None
    classes: tuple[Class, ...]


@dataclass(frozen=True)
class Cores:
    """The cores of a run, by host and number."""

    cores: tuple[Core, ...]

    @property
    def worst(self) -> Core:
        return max(self.cores, key=lambda core: core.detours.lost_ratio)

    @property
    def several_hosts(self) -> bool:
        return len({core.host for core in self.cores}) > 1

    def hit(self, work_s: float, many: int) -> float:
        """Returns the probability that a detour begins in `work_s` on any of `many` cores."""
        return hit_ratio(work_s, [self._hazard * many])

    def undisturbed_s(self, many: int) -> float:
        """The longest sample on so many cores of which 99 % meet no detour."""
        return undisturbed_s(UNDISTURBED, [self._hazard * many])

    def slowdown(self, work_s: float, many: int) -> float:
        """The slowdown of a collective of this length over so many of such cores."""
        return slowdown(work_s, [core.detours for core in self.cores], many)

    @property
    def _hazard(self) -> float:
        """The mean number of detours per second of free time of a core."""
        return sum(core.detours.per_free_second for core in self.cores) / len(self.cores)


def cores(noise: Iterable[Noise], ranks: Iterable[Rank] = ()) -> Cores | None:
    """The detours of each core; None: the run, like those of older versions, has no single
    detours."""
    hosts = {(rank.launch, rank.rank): rank.host for rank in ranks}
    by_core: dict[tuple[str, int], list[Noise]] = defaultdict(list)
    for each in noise:
        if len(each.start_ns) == len(each.length_ns) and (each.start_ns or not each.detours):
            by_core[hosts.get((each.launch, each.rank), ""), each.cpu].append(each)
    kept = []
    for (host, cpu), of_core in sorted(by_core.items()):
        core = _core(host, cpu, of_core)
        if core.detours.seconds > core.detours.lost_s > 0:
            kept.append(core)
    if kept:
        return Cores(tuple(kept))
    return None


def _core(host: str, cpu: int, noise: list[Noise]) -> Core:
    measured = [each for each in noise if each.when == MEASURED] or noise
    detours = Detours(tuple(_stretch(each) for each in measured))
    seconds = detours.seconds
    return Core(
        host=host,
        cpu=cpu,
        detours=detours,
        stolen_ratio=sum(each.stolen_s for each in measured) / seconds,
        waited_ratio=sum(each.waited_s for each in measured) / seconds,
        tick=tick(detours),
        classes=classes(detours),
    )


def _stretch(noise: Noise) -> Stretch:
    return Stretch(
        seconds=noise.seconds,
        starts_s=_in_seconds(noise.start_ns),
        lengths_s=_in_seconds(noise.length_ns),
        count=noise.detours,
        lost_s=noise.lost_ratio * noise.seconds,
        longest_s=noise.longest_s,
    )


def _in_seconds(nanoseconds: Iterable[float]) -> tuple[float, ...]:
    return tuple(each * 1e-9 for each in nanoseconds)

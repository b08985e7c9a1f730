# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The noise on the cores, as lines of a page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.units import duration, many, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.result.node.detours import Core, Cores
    from mpigauge.result.stats.detours import Class

MOST_CORES = 16
COLLECTIVE_S = 20e-6
MANY = (64, 1024)
"""Numbers of cores for which a collective is foretold, beside those of the run."""


def noise_lines(cores: Cores) -> Iterator[str]:
    """The cores, the worst first where there are many; then what follows for samples and calls."""
    yield "Noise: what others take of each core"
    yield f"{'':12}{'a second':>9}{'share':>8}{'longest':>10}{'stolen':>8}  how long, and how often"
    for core in cores_to_show(cores):
        yield _core(cores, core)
    if len(cores.cores) > MOST_CORES:
        yield f"  and {len(cores.cores) - MOST_CORES} cores with less"
    for line in (*_ticks(cores), *_effects(cores)):
        yield f"  {line}"


def cores_to_show(cores: Cores) -> tuple[Core, ...]:
    """All in their order, or the worst of them."""
    if len(cores.cores) <= MOST_CORES:
        return cores.cores
    worst = sorted(cores.cores, key=lambda core: -core.detours.lost_ratio)
    return tuple(worst[:MOST_CORES])


def _core(cores: Cores, core: Core) -> str:
    detours = core.detours
    name = f"{core.host}:{core.cpu}" if cores.several_hosts else f"core {core.cpu}"
    kinds = ", ".join(map(_class, core.classes))
    return (
        f"  {name:10}{number(detours.per_second):>9}{percent(detours.lost_ratio):>8}"
        f"{duration(detours.longest_s):>10}{percent(core.stolen_ratio):>8}  {kinds}"
    ).rstrip()


def _class(kind: Class) -> str:
    least, often = _round(kind.least_s), f"{number(kind.per_second)}/s"
    if math.isinf(kind.most_s):
        return f"over {least}: {often}"
    return f"{least} to {_round(kind.most_s)}: {often}"


def _round(seconds: float) -> str:
    scale, unit = (1e6, "µs") if seconds < 1e-3 else (1e3, "ms")
    return f"{seconds * scale:.0f} {unit}"


def _ticks(cores: Cores) -> Iterator[str]:
    heard = [core.tick for core in cores.cores if core.tick]
    if not heard:
        yield "tick of the kernel: UNDECIDED, none of 100, 250, 300 and 1000 Hz is significant"
        return
    rates = " or ".join(f"{hz:.0f} Hz" for hz in sorted({tick.hz for tick in heard}))
    lengths = [tick.length_s for tick in heard]
    share = max(tick.lost_ratio for tick in heard)
    yield (
        f"tick of the kernel: {rates} on {len(heard)} of {many(len(cores.cores), 'core')}, "
        f"{_range(lengths)} each, up to {percent(share)} of a core"
    )


def _range(seconds: list[float]) -> str:
    low, high = duration(min(seconds)), duration(max(seconds))
    if low == high:
        return low
    return f"{low} to {high}"


def _effects(cores: Cores) -> Iterator[str]:
    here = len(cores.cores)
    yield (
        f"samples shorter than {duration(cores.undisturbed_s(here))} on {many(here, 'core')} meet "
        "no detour in 99 of 100"
    )
    for count in dict.fromkeys((here, *MANY)):
        hit, longer = cores.hit(COLLECTIVE_S, count), cores.slowdown(COLLECTIVE_S, count)
        yield (
            f"a collective of {duration(COLLECTIVE_S)} over {many(count, 'core')} like these: a "
            f"detour begins in {percent(hit)}, in the mean {number(longer)} × as long"
        )

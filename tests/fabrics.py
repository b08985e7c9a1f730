# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs of `mpigauge fabric` that nobody measured: hosts in pairs, with faults that are planted."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from mpigauge.model.column_facts import USUAL
from mpigauge.model.stored_cards import FILE
from mpigauge.result.fabric.fabric import HALVES, HEADER, RANDOM
from mpigauge.result.fabric.impact import AGGRESSORS, CONTROL, STOPPED, SUITE
from mpigauge.result.fabric.matchings import ALONE, SHORT
from tests import cells, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Pair = tuple[int, int]
    Speed = Callable[[Pair], float]
    """The bandwidth of a pair relative to the usual one."""

MEBIBYTE = 1 << 20
USUAL_S = 1e-3
"""What an exchange of a pair takes."""
ROUNDS = 40
HOSTS = tuple(f"n{place}" for place in range(8))


def run(
    folder: Path,
    together: Speed = lambda _: 1.0,
    alone: Speed = lambda _: 1.0,
    hosts: Sequence[str] = HOSTS,
    groups: Sequence[str] = (),
    halves: Speed | None = None,
    short: Speed | None = None,
    stopped: str = "",
    names: Sequence[str] = ("Ring",),
    slower: float = 2.0,
) -> Path:
    """A run on these hosts, with pairs as fast as that. `halves`: those of a bisection, if there is
    one; `short`: those of bursts of short messages; `stopped`: aggressors that gave up; `names`:
    the victims, and how much `slower` they are beside aggressors."""
    head = {HEADER: {"hosts": list(hosts), "lanes": 1, "groups": list(groups), "measured": False}}
    lines = [
        runs.launch(world_ranks=len(hosts)),
        *(runs.rank(place, host) for place, host in enumerate(hosts)),
        *matchings(len(hosts), together, alone),
        *(bisections(len(hosts), halves, alone) if halves else ()),
        *(bursts(len(hosts), short) if short else ()),
        *spots(len(hosts)),
        *(line for name in names for line in victims(name, len(hosts), stopped, slower)),
        cells.end(),
    ]
    runs.write(folder, lines, header=head)
    (folder / "cards.json").write_text(FILE.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def matchings(hosts: int, together: Speed, alone: Speed) -> Iterator[str]:
    """The records of all rounds, with a noise of one percent."""
    draw = random.Random(1)
    for number in range(1, ROUNDS + 1):
        order = draw.sample(range(hosts), hosts)
        halves = zip(order[::2], order[1::2], strict=False)
        pairs = [(min(pair), max(pair)) for pair in halves]
        for name, speed in ((RANDOM, together), (f"{RANDOM}{ALONE}", alone)):
            times = [USUAL_S / speed(pair) * draw.gauss(1, 0.01) for pair in pairs]
            yield matching(name, number, pairs, times)


def bisections(hosts: int, together: Speed, alone: Speed) -> Iterator[str]:
    """The records of two halves, whose pairs shift from round to round."""
    draw, half = random.Random(2), hosts // 2
    for number in range(1, ROUNDS + 1):
        pairs = [(host, half + (host + number) % half) for host in range(half)]
        for name, speed in ((HALVES, together), (f"{HALVES}{ALONE}", alone)):
            times = [USUAL_S / speed(pair) * draw.gauss(1, 0.01) for pair in pairs]
            yield matching(name, number, pairs, times)


def bursts(hosts: int, speed: Speed) -> Iterator[str]:
    """The records of bursts of short messages of two permutations in each round."""
    draw = random.Random(3)
    for number in range(ROUNDS):
        orders = [draw.sample(range(hosts), hosts) for _ in range(2)]
        pairs = [pair for of in orders for pair in zip(of[::2], of[1::2], strict=False)]
        times = [USUAL_S / speed((min(pair), max(pair))) * draw.gauss(1, 0.05) for pair in pairs]
        yield matching(SHORT, number, pairs, times)


def matching(name: str, number: int, pairs: Sequence[Any], times_s: Sequence[float]) -> str:
    key = {"suite": SUITE, "benchmark": name, "ranks": 2 * len(pairs), "message_bytes": MEBIBYTE}
    return cells.line(
        "matching",
        launch=0,
        round=number,
        key={**USUAL, **key},
        pairs=[rank for pair in pairs for rank in pair],
        time_ns=[round(time * 1e9) for time in times_s],
    )


def spots(hosts: int) -> Iterator[str]:
    """One host that gets as much from many as from one, and one whose total collapses."""
    others = 1
    while others < hosts:
        for name, seconds in (("Many_to_one", others * others), ("One_to_many", others)):
            yield cell(name, others + 1, seconds * USUAL_S, moved_bytes=others * MEBIBYTE)
        others *= 2


def victims(victim: str, hosts: int, stopped: str, slower: float) -> Iterator[str]:
    """A victim that takes longer beside all but sleeping aggressors."""
    for place, aggressor in enumerate(("", *AGGRESSORS)):
        times = 1 if aggressor in ("", CONTROL) else slower
        name = f"{victim}_{aggressor}" if aggressor else victim
        draw = random.Random(name)
        ticks = [
            [round(1_000_000 * times * draw.gauss(1, 0.002)) + 1000 * visit] * 3
            for visit in range(ROUNDS)
        ]
        yield cell(
            name,
            hosts,
            times * USUAL_S,
            message_bytes=8 if victim.endswith("8") else MEBIBYTE,
            raw=cells.raw(ticks),
            beside_bytes_per_s=2e8 + place if times > 1 else None,
            flags=[STOPPED] if aggressor and aggressor == stopped else [],
        )


def cell(name: str, ranks: int, time_s: float, **changed: Any) -> str:
    fields = cells.fields(name, suite=SUITE, ranks=ranks, message_bytes=MEBIBYTE,
                          time_p50_s=time_s, launch=0)  # fmt: skip
    return cells.line("cell", **fields | changed)

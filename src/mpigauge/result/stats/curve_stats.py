# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Very many curves as numbers alone: what is usual among them, and which of them is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.column_facts import BENCHMARK, OF_CURVES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

variant_of = attrgetter(*OF_CURVES)
"""Their values of a cell."""
_NAMED = (*BENCHMARK, "ranks")
"""The columns that all curves are named by."""
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of the curves that a quantile of the crowd lies above."""


class Member(NamedTuple):
    """A curve: rows that differ in the size of their messages only, sizes upwards."""

    benchmark: str
    """Its word: NAME, or SUITE:NAME outside MPI1."""
    ranks: int
    told: tuple[tuple[str, object], ...]
    """The other columns that tell it from others, with their values."""
    sizes: tuple[int, ...]
    """Bytes; -1: no message."""
    times: tuple[float, ...]
    """Printed times, in seconds."""
    errors: tuple[float, ...]
    """Of these, relative; NaN: not known."""
    wrong: int = 0
    """Data that were wrong."""

    @property
    def group(self) -> tuple[str, int]:
        """Whom it can be compared with."""
        return self.benchmark, self.ranks

    @property
    def is_default(self) -> bool:
        known = dict(self.told)
        return not known.get("arm") and not known.get("placement")


class CurveQuantiles(NamedTuple):
    """What a crowd has at one size."""

    message_bytes: int
    times: tuple[float, ...]
    """At each of SHARES."""
    curves: int


@dataclass(frozen=True)
class CurveGroup:
    """Curves that can be compared: of one benchmark on as many ranks."""

    benchmark: str
    ranks: int
    members: tuple[Member, ...]

    @cached_property
    def usual(self) -> list[CurveQuantiles]:
        """What is usual among them at each size, sizes upwards."""
        return usual(self.members)


@dataclass(frozen=True)
class ManyCurves:
    """All curves of a run that can be compared with others, in groups."""

    groups: tuple[CurveGroup, ...]

    @property
    def members(self) -> list[Member]:
        return [member for group in self.groups for member in group.members]

    def of_benchmark(self, name: str) -> ManyCurves:
        """Only those of the benchmark of this name, in whatever case; of all where it is empty."""
        wanted = name.lower()
        return ManyCurves(
            tuple(group for group in self.groups if wanted in ("", group.benchmark.lower()))
        )

    def first(self, groups: int) -> ManyCurves:
        """Only the first so many groups."""
        return ManyCurves(self.groups[:groups])

    def most_informative(self, rows: int) -> list[Member]:
        """The curves that tell most, together of about so many rows."""
        members = self.members
        return [members[place] for place in most_informative(members, rows)]


def many_curves(members: Sequence[Member]) -> ManyCurves:
    """Curves of messages in groups; those without a message are left out."""
    sized = [member for member in members if member.sizes[-1] >= 0]
    found = groups(sized)
    return ManyCurves(tuple(CurveGroup(*key, tuple(of)) for key, of in found.items()))


def varied(keys: Sequence[Sequence[object]]) -> list[str]:
    """The other columns in which curves with these values of OF_CURVES differ."""
    return [
        name
        for place, name in enumerate(OF_CURVES)
        if name not in _NAMED and len({key[place] for key in keys}) > 1
    ]


def groups(members: Sequence[Member]) -> dict[tuple[str, int], list[Member]]:
    """Those that can be compared, in the order in which they first appear."""
    found: dict[tuple[str, int], list[Member]] = {}
    for member in members:
        found.setdefault(member.group, []).append(member)
    return found


def usual(members: Sequence[Member]) -> list[CurveQuantiles]:
    """Over the curves of one group, sizes upwards."""
    import numpy as np

    sizes, times = _flat(members)
    found = []
    for size in np.unique(sizes):
        here = times[sizes == size]
        quantiles = np.quantile(here, SHARES)
        found.append(CurveQuantiles(int(size), tuple(map(float, quantiles)), len(here)))
    return found


def most_informative(members: Sequence[Member], rows: int) -> list[int]:
    """Places of the curves that tell most, together of about so many rows: of each group first what
    had wrong data and what is the default, then in turn the farthest from the usual to either side.
    In the order of `members`."""
    places = {id(member): place for place, member in enumerate(members)}
    ordered = [
        [places[id(member)] for member in _farthest_first(of)] for of in groups(members).values()
    ]
    chosen: list[int] = []
    room = rows
    for place in chain.from_iterable(zip_longest(*ordered)):
        if place is not None and (not chosen or len(members[place].sizes) <= room):
            chosen.append(place)
            room -= len(members[place].sizes)
        if room <= 0:
            break
    return sorted(chosen)


def _farthest_first(members: Sequence[Member]) -> Iterator[Member]:
    off = dict(zip(map(id, members), _off(members), strict=True))
    first = [m for m in members if m.wrong] + [m for m in members if m.is_default and not m.wrong]
    yield from first
    known = {id(member) for member in first}
    slow_first = sorted((m for m in members if id(m) not in known), key=lambda m: -off[id(m)])
    many = len(slow_first)
    for place in range(many):
        yield slow_first[place // 2] if place % 2 == 0 else slow_first[many - 1 - place // 2]


def _off(members: Sequence[Member]) -> list[float]:
    """How far each lies above the middle of their crowd, as the mean of logarithms."""
    import numpy as np

    known = usual(members)
    sizes, times = _flat(members)
    of_size = np.searchsorted([each.message_bytes for each in known], sizes)
    logs = np.log(times / np.array([each.times[2] for each in known])[of_size])
    counts = np.array([len(member.sizes) for member in members])
    begins = np.cumsum(counts) - counts
    found: list[float] = (np.add.reduceat(logs, begins) / counts).tolist()
    return found


def _flat(members: Sequence[Member]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The sizes and the times of all, one after the other."""
    import numpy as np

    sizes = np.fromiter(chain.from_iterable(m.sizes for m in members), dtype=np.int64)
    times = np.fromiter(chain.from_iterable(m.times for m in members), dtype=float)
    return sizes, times

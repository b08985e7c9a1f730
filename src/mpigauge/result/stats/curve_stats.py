# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Very many curves as plain numbers: their quantiles, and the curves farthest from them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.column_facts import BENCHMARK, OF_CURVES
from mpigauge.model.grouping import grouped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

variant_of = attrgetter(*OF_CURVES)
"""Returns the values of OF_CURVES of a cell."""
_NAMED = (*BENCHMARK, "ranks")
"""The columns that all curves are named by."""
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The shares of the curves below each quantile."""


class Member(NamedTuple):
    """A curve: rows that differ in the size of their messages only, sizes upwards."""

    benchmark: str
    """Its word: NAME, or SUITE:NAME outside MPI1."""
    ranks: int
    columns: tuple[tuple[str, object], ...]
    """The other columns that distinguish it, with their values."""
    sizes: tuple[int, ...]
    """Bytes; -1: no message."""
    times: tuple[float, ...]
    """Printed times, in seconds."""
    errors: tuple[float, ...]
    """The relative errors of these times; NaN: unknown."""
    wrong: int = 0
    """The number of wrong data elements."""

    @property
    def group(self) -> tuple[str, int]:
        """The group within which it can be compared."""
        return self.benchmark, self.ranks

    @property
    def is_default(self) -> bool:
        columns = dict(self.columns)
        return not columns.get("arm") and not columns.get("placement")


class CurveQuantiles(NamedTuple):
    """The quantiles of a group of curves at one size."""

    message_bytes: int
    times: tuple[float, ...]
    """The time in seconds at each of SHARES."""
    curves: int


@dataclass(frozen=True)
class CurveGroup:
    """Curves that can be compared: of one benchmark on as many ranks."""

    benchmark: str
    ranks: int
    members: tuple[Member, ...]

    @cached_property
    def usual(self) -> list[CurveQuantiles]:
        """The quantiles of the curves at each size, in ascending order of size."""
        return usual(self.members)


@dataclass(frozen=True)
class ManyCurves:
    """All curves of a run that can be compared with others, in groups."""

    groups: tuple[CurveGroup, ...]

    @property
    def members(self) -> list[Member]:
        """The curves of all groups, one group after the other."""
        result: list[Member] = []
        for group in self.groups:
            result += group.members
        return result

    def of_benchmark(self, name: str) -> ManyCurves:
        """The curves of the benchmark of this name, in whatever case; all if the name is empty."""
        if not name:
            return self
        groups = [group for group in self.groups if group.benchmark.lower() == name.lower()]
        return ManyCurves(tuple(groups))

    def first(self, groups: int) -> ManyCurves:
        """The curves of the first groups."""
        return ManyCurves(self.groups[:groups])

    def most_informative(self, rows: int) -> list[Member]:
        """Returns the most informative curves, together of about so many rows."""
        members = self.members
        return [members[place] for place in most_informative(members, rows)]


def many_curves(members: Sequence[Member]) -> ManyCurves:
    """Curves of messages in groups; those without a message are left out."""
    sized = [member for member in members if member.sizes[-1] >= 0]
    result = []
    for (benchmark, ranks), of in groups(sized).items():
        result.append(CurveGroup(benchmark, ranks, tuple(of)))
    return ManyCurves(tuple(result))


def varied(keys: Sequence[Sequence[object]]) -> list[str]:
    """The other columns in which curves with these values of OF_CURVES differ."""
    names = []
    for name, values in zip(OF_CURVES, zip(*keys, strict=True), strict=False):
        if name not in _NAMED and len(set(values)) > 1:
            names.append(name)
    return names


def groups(members: Sequence[Member]) -> dict[tuple[str, int], list[Member]]:
    """Members that can be compared, in the order in which they first appear."""
    return grouped(members, lambda member: member.group)


def usual(members: Sequence[Member]) -> list[CurveQuantiles]:
    """Returns the quantiles over the curves of one group, in ascending order of size."""
    import numpy as np

    sizes, times = _flat(members)
    result = []
    for size in np.unique(sizes):
        here = times[sizes == size]
        quantiles = np.quantile(here, SHARES)
        result.append(CurveQuantiles(int(size), tuple(map(float, quantiles)), len(here)))
    return result


def most_informative(members: Sequence[Member], rows: int) -> list[int]:
    """Returns the places of the most informative curves, together of about so many rows, in the
    order of `members`: of each group first those with wrong data and the default, then in turn
    the farthest from the median to either side."""
    places = {id(member): place for place, member in enumerate(members)}
    ordered = [_farthest_first(of) for of in groups(members).values()]
    chosen: list[int] = []
    room = rows
    for member in chain.from_iterable(zip_longest(*ordered)):
        if member is not None and (not chosen or len(member.sizes) <= room):
            chosen.append(places[id(member)])
            room -= len(member.sizes)
        if room <= 0:
            break
    return sorted(chosen)


def _farthest_first(members: Sequence[Member]) -> Iterator[Member]:
    off = dict(zip(map(id, members), _off(members), strict=True))
    wrong, default, others = [], [], []
    for member in members:
        if member.wrong:
            wrong.append(member)
        elif member.is_default:
            default.append(member)
        else:
            others.append(member)
    yield from wrong
    yield from default
    slow_first = deque(sorted(others, key=lambda member: -off[id(member)]))
    while slow_first:
        yield slow_first.popleft()
        if slow_first:
            yield slow_first.pop()


def _off(members: Sequence[Member]) -> list[float]:
    """Returns the distance of each above the median of the group, as a mean of logarithms."""
    import numpy as np

    quantiles = usual(members)
    sizes, times = _flat(members)
    known_sizes = np.array([each.message_bytes for each in quantiles])
    medians = np.array([each.times[2] for each in quantiles])
    logs = np.log(times / medians[np.searchsorted(known_sizes, sizes)])
    counts = np.array([len(member.sizes) for member in members])
    begins = np.cumsum(counts) - counts
    distances: list[float] = (np.add.reduceat(logs, begins) / counts).tolist()
    return distances


def _flat(members: Sequence[Member]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The sizes in bytes and the times in seconds of all, one after the other."""
    import numpy as np

    sizes: list[int] = []
    times: list[float] = []
    for member in members:
        sizes += member.sizes
        times += member.times
    return np.array(sizes, dtype=np.int64), np.array(times, dtype=float)

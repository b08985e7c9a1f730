# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The map of a run: the time between every two ranks, their placement, and the odd pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mpigauge.model.cpu_lists import as_list, parse_list
from mpigauge.model.placement import Seat
from mpigauge.model.placement_words import HOST, HOSTS
from mpigauge.model.row import Estimate, error_words
from mpigauge.model.units import byte_count, megabytes_per_s, microseconds, number
from mpigauge.result.stats.peers import (
    Odd,
    OddRank,
    PeerGroup,
    RankPair,
    clusters,
    odd_pairs,
    odd_ranks,
)
from mpigauge.site.topology.levels import DISTANCES, MEANING, Levels
from mpigauge.site.topology.stored import stored

if TYPE_CHECKING:
    from mpigauge.model.record import Rank
    from mpigauge.model.row import Row
    from mpigauge.runs.store import Run

LARGE = 4096
"""Bytes from which on a message is shown by its bandwidth."""
ABOUT = MEANING | {HOST: "one host", HOSTS: "different hosts"}
ORDER = (*DISTANCES, HOST, HOSTS)


class Timed(Protocol):
    """The part of a row that a map shows."""

    @property
    def latency(self) -> Estimate: ...
    @property
    def error_words(self) -> str: ...


class PairLatency(NamedTuple):
    """The printed time between two ranks, of a run whose rows are too many to be made."""

    latency: Estimate
    kind: str = "one launch"

    @property
    def error_words(self) -> str:
        """±2.1 %."""
        return error_words(self.latency, self.kind)


PairsOfSheet = dict[tuple[int, int], list[tuple[int, Timed]]]
"""The times of a pair by its ranks, the smaller first, each with the pairs measured at once."""


@dataclass(frozen=True)
class Sheet:
    """One benchmark at one size."""

    benchmark: str
    message_bytes: int
    rows: Mapping[tuple[int, int], Timed]
    """The first measurement of each pair, by its ranks, the smaller first."""
    again: Mapping[tuple[int, int], Timed]
    """Measured once more, alone, because they stood out."""
    clusters: tuple[PeerGroup, ...]
    """The groups of peers, with the times that hold: the second measurement if there is one."""

    @property
    def name(self) -> str:
        """PingPong 8 B; NODE:Mailbox, which has no message."""
        return f"{self.benchmark} {byte_count(self.message_bytes)}".rstrip()

    @property
    def unit(self) -> str:
        if self.message_bytes < 0:
            return "ns"  # no message, but cache lines
        if self.message_bytes >= LARGE:
            return "MB/s"
        return "µs"

    def text(self, seconds: float) -> str:
        """A time in the unit of the sheet: of large messages people want the bandwidth."""
        if self.message_bytes >= LARGE:
            return megabytes_per_s(self.message_bytes / seconds)
        if self.message_bytes < 0:
            return number(seconds * 1e9)
        return microseconds(seconds)

    @cached_property
    def holding(self) -> Mapping[tuple[int, int], Timed]:
        """The row of each pair that holds: the one measured again where there is one."""
        return {**self.rows, **self.again}

    def row(self, first: int, second: int) -> Timed | None:
        """Returns the row that holds for these two ranks."""
        pair = min(first, second), max(first, second)
        return self.again.get(pair) or self.rows.get(pair)

    @cached_property
    def odd(self) -> tuple[Odd, ...]:
        return odd_pairs(self.clusters)

    @cached_property
    def odd_ranks(self) -> tuple[OddRank, ...]:
        return odd_ranks(self.clusters)


@dataclass(frozen=True)
class PairMap:
    seats: tuple[Seat, ...]
    """The seat of each rank, from rank 0 on."""
    sheets: tuple[Sheet, ...]
    several_hosts: bool = field(default=False)

    def name(self, rank: int) -> str:
        """Returns the place of a rank: n1:4, or core 4 if there is one host."""
        return self._names[rank]

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(map(self._name, range(len(self.seats))))

    def _name(self, rank: int) -> str:
        seat = self.seats[rank]
        pus = as_list(seat.pus)
        if self.several_hosts:
            if pus:
                return f"{seat.host}:{pus}"
            return seat.host
        if pus:
            return f"core {pus}"
        return f"rank {rank}"


def stored_map(run: Run, rows: Iterable[Row]) -> PairMap | None:
    """The map that a run holds; None: it has no pairs."""
    if any(part.get("places") for part in run.plan.get("parts") or ()):
        return None  # pairs that stand for policies
    return pair_map(rows, seats_of(run.ranks), levels_of(run))


def is_map(plan: Mapping[str, Any]) -> bool:
    """True if a run with this plan measures pairs of ranks, which do not stand for policies."""
    parts = plan.get("parts") or ()
    return bool(parts) and all(part.get("pairs") and not part.get("places") for part in parts)


def levels_of(run: Run) -> dict[str, Levels]:
    """The levels of each host of a run, by the name that the host gives itself."""
    machines = [run.passport.get("machine") or {}]
    machines += [host.get("machine") or {} for host in run.passport.get("hosts") or ()]
    levels = {}
    for machine in machines:
        with suppress(KeyError, TypeError):  # a run of a version that did not store it
            topology = stored(machine)
            levels[topology.hostname] = Levels.of(topology)
    return levels


def pair_map(
    rows: Iterable[Row], seats: Sequence[Seat], levels: Mapping[str, Levels]
) -> PairMap | None:
    """The map of these rows; `levels` by the name that a host gives itself."""
    sheets: dict[tuple[str, int], PairsOfSheet] = {}
    for row in rows:
        members = _members(row)
        if members:
            sheet = sheets.setdefault((row.benchmark, row.message_bytes), {})
            sheet.setdefault(members, []).append((row.cell.groups, row))
    return map_of(sheets, seats, levels)


def map_of(
    sheets: Mapping[tuple[str, int], PairsOfSheet],
    seats: Sequence[Seat],
    levels: Mapping[str, Levels],
) -> PairMap | None:
    """The map of these times, by benchmark and size; None: there are none, or ranks without a
    seat."""
    ranks = {rank for pairs in sheets.values() for pair in pairs for rank in pair}
    if not ranks or max(ranks) >= len(seats):
        return None
    closest = cache(lambda first, second: level_of(seats[first], seats[second], levels))
    made = [_sheet(*key, pairs, closest) for key, pairs in sheets.items()]
    return PairMap(tuple(seats), tuple(made), len({seat.host for seat in seats}) > 1)


def level_of(first: Seat, second: Seat, levels: Mapping[str, Levels]) -> str:
    """Returns the distance of two ranks, a word of ORDER; `host`: their cores are unknown."""
    if first.host != second.host:
        return HOSTS
    here = levels.get(first.host)
    if not (first.pus and second.pus and here):
        return HOST
    a, b = min(first.pus), min(second.pus)
    if a in here.around and b in here.around:
        return here.closest(a, b)
    return HOST


def _sheet(
    benchmark: str, message_bytes: int, of: PairsOfSheet, closest: Callable[[int, int], str]
) -> Sheet:
    """Makes a sheet. If a pair was measured beside others and then alone, the second holds."""
    first, again, pairs = {}, {}, []
    for pair, measured in sorted(of.items(), key=lambda each: each[0]):
        measured.sort(key=lambda each: -each[0])
        first[pair] = measured[0][1]
        if len(measured) > 1:
            again[pair] = measured[-1][1]
        pairs.append(RankPair(*pair, closest(*pair), measured[-1][1].latency))
    return Sheet(benchmark, message_bytes, first, again, clusters(pairs, ORDER))


def _members(row: Row) -> tuple[int, int] | None:
    first, _, second = row.cell.members.partition(",")
    if not second.isdigit():
        return None
    return min(int(first), int(second)), max(int(first), int(second))


def seats_of(ranks: Iterable[Rank]) -> tuple[Seat, ...]:
    """Returns the seats of the ranks of the first launch, as the ranks read them back."""
    all_ranks = list(ranks)
    first = min((rank.launch for rank in all_ranks), default=0)
    seats = []
    for rank in sorted(all_ranks, key=lambda rank: rank.rank):
        if rank.launch == first:
            pus = parse_list(rank.cpuset) if rank.wanted_cpuset else ()
            seats.append(Seat(rank.host, frozenset(pus)))
    return tuple(seats)

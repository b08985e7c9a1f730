# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The few numbers that people quote of a machine, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.model.column_facts import words_in_name
from mpigauge.model.units import with_commas
from mpigauge.result.stats.fit import Fit, fit, in_two_ranges, points_of
from mpigauge.result.words import hosts_in_words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from mpigauge.model.record import Key
    from mpigauge.model.row import Estimate, Row

ONE_WAY = ("PingPong", "PingPongSpecificSource", "PingPongAnySource")
"""Benchmarks whose printed time is that of one message between two ranks."""
DEFAULT_PLACEMENT = "default placement"
_RATED = ("Uniband", "Biband")


@dataclass(frozen=True)
class Headline:
    """Each is None where the rows do not hold it."""

    zero: Row | None
    """Latency: the row of 0 bytes, or of the smallest message."""
    peak: Row | None
    """The row with the highest bandwidth of one direction, of all placements."""
    line: Fit | None
    """t = α + β·n over all sizes; None, too, where α would not be above 0."""
    ranges: tuple[Fit, ...]
    """The same for small and for large messages; without one whose α would not be above 0, which
    is not a time that a message of nothing could take."""
    busiest: Row | None
    """The row with the highest message rate, of all placements."""
    swept: bool = False
    """True if one of several settings was chosen: the default if it was measured."""
    placed: bool = False
    """True if its benchmarks were measured in several placements: each row has the name of its
    own; latency and line are of the first."""
    hosts: Mapping[Key, Sequence[str]] = field(default_factory=dict, hash=False)
    """The hosts of each row's ranks, each once, by the row's key; only of runs on several hosts."""

    def hosts_of(self, row: Row) -> str:
        """Returns the hosts of a row: within n1, or n1 to n2; empty: one host, or unknown."""
        return hosts_in_words(self.hosts.get(row.key, ()))

    def is_within_host(self, row: Row) -> bool:
        """True if all ranks of a row are on one host, in a run on several."""
        return len(self.hosts.get(row.key, ())) == 1

    def is_between_hosts(self, row: Row) -> bool:
        """True if the ranks of a row are on several hosts."""
        return len(self.hosts.get(row.key, ())) > 1

    def placement_of(self, row: Row | None) -> str:
        """Returns the placement of a row, if it is one of several; else empty."""
        if row and self.placed:
            return row.cell.placement or DEFAULT_PLACEMENT
        return ""

    def setting_of(self, row: Row) -> str:
        """The memory of a row's data unless it is host memory, and the settings with which the row
        was measured; empty: there were none to choose from."""
        of_data = words_in_name({"memory": row.cell.memory})
        if row.cell.arm:
            return with_commas(*of_data, f"with {row.cell.arm}")
        return with_commas(*of_data, "default settings" if self.swept else "")

    @property
    def latency_s(self) -> Estimate | None:
        if self.zero:
            return self.zero.latency
        return None

    @property
    def peak_bandwidth(self) -> Estimate | None:
        if self.peak:
            return self.peak.bandwidth
        return None

    @property
    def message_rate(self) -> Estimate | None:
        if self.busiest:
            return self.busiest.rate
        return None

    @property
    def empty(self) -> bool:
        return not (self.zero or self.peak or self.busiest)


def quoted_rows(
    rows: Sequence[Row], between: Collection[Key] = ()
) -> tuple[Row | None, Row | None]:
    """The rows of a headline's latency and of its bandwidth. `between`: as for the headline."""
    everywhere = _preferred(rows, ONE_WAY, between)
    smallest = min(_of_first_placement(everywhere), key=_size, default=None)
    return smallest, max(everywhere, key=_bandwidth, default=None)


def _preferred(
    rows: Sequence[Row], names: Sequence[str], between: Collection[Key]
) -> Sequence[Row]:
    """The rows of the first of these benchmarks: those between hosts, if there are any."""
    far = [row for row in rows if row.key in between]
    return _first_of(far, names) or _first_of(rows, names)


def quotable(rows: Sequence[Row]) -> list[Row]:
    """The rows of which a headline may be made."""
    return [row for row in rows if row.benchmark in (*ONE_WAY, *_RATED)]


def _of_first_placement(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.cell.placement == rows[0].cell.placement]


def _size(row: Row) -> int:
    return row.message_bytes


def _bandwidth(row: Row) -> float:
    if row.bandwidth:
        return row.bandwidth.value
    return 0.0


def headline(rows: Sequence[Row], between: Collection[Key] = ()) -> Headline:
    """Returns the headline: latency and line of PingPong in its first placement, the highest
    bandwidth of all its placements, and the highest rate of Uniband. `between`: the keys of rows
    between hosts, which are quoted before those within one."""
    rated = _preferred(rows, _RATED, between)
    table = _of_first_placement(_preferred(rows, ONE_WAY, between))
    points = points_of(table) if _is_of_one_pair(table) else []
    line = fit(points)
    if line and not _can_be(line):
        line = None
    zero, peak = quoted_rows(rows, between)
    return Headline(
        zero=zero,
        peak=peak,
        line=line,
        ranges=tuple(filter(_can_be, in_two_ranges(points) or ())),
        busiest=max(rated, key=_rate, default=None),
        swept=len({row.cell.arm for row in rows}) > 1,
        placed=any(_is_placed(_first_of(rows, names)) for names in (ONE_WAY, _RATED)),
    )


def _is_placed(rows: Sequence[Row]) -> bool:
    return len({row.cell.placement for row in rows}) > 1


def _is_of_one_pair(rows: Sequence[Row]) -> bool:
    """True if a line is of anything: each pair of a map has its own."""
    return len({row.cell.members for row in rows}) == 1


def _can_be(line: Fit) -> bool:
    return line.alpha_s.value > 0


def _first_of(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Returns the rows of the first of these benchmarks that was measured, in its first variant and
    in all placements; with the default settings if several were measured."""
    for name in names:
        measured = [row for row in rows if row.benchmark == name]
        chosen = [row for row in measured if not row.cell.arm] or measured
        if chosen:
            return [row for row in chosen if _variant(row) == _variant(chosen[0])]
    return []


def _variant(row: Row) -> tuple[object, ...]:
    cell = row.cell
    return (cell.ranks, cell.groups, cell.group, cell.datatype, cell.cache, cell.data, cell.mode,
            cell.inflight, cell.memory, cell.origin,
            cell.arm, cell.source)  # fmt: skip


def _rate(row: Row) -> float:
    if row.rate:
        return row.rate.value
    return 0.0

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The view of a stored run for analyses: its rows as curves, and the placement of its ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mpigauge.model.column_facts import phrases
from mpigauge.model.cpu_lists import pus_of
from mpigauge.model.grouping import grouped
from mpigauge.model.placement_words import HOSTS
from mpigauge.model.units import many
from mpigauge.result.nature import nature_of
from mpigauge.result.stats.curve_stats import Member, variant_of, varied
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.result.stats.pieces import Pieces, in_pieces, known_points
from mpigauge.runs.store.writer import word_for
from mpigauge.site.topology.stored import stored

if TYPE_CHECKING:
    from mpigauge.model.record import Rank
    from mpigauge.model.row import Row
    from mpigauge.model.topology import Cache, Topology
    from mpigauge.result.fabric.fabric import Fabric
    from mpigauge.result.nature import Does
    from mpigauge.result.pairs import PairMap
    from mpigauge.runs.store import Run

Where = Literal["node", "network", ""]
"""Communication within one host or between several; empty: it is not recorded."""


@dataclass(frozen=True)
class Curve:
    """Rows of one benchmark that differ in their message size only, sizes upwards."""

    rows: tuple[Row, ...]

    @property
    def first(self) -> Row:
        return self.rows[0]

    @property
    def benchmark(self) -> str:
        return self.first.benchmark

    @property
    def label(self) -> str:
        """The benchmark, and the properties that distinguish this curve from others of it."""
        cell = self.first.cell
        words = [self.benchmark]
        if cell.ranks != 2:
            words.append(f"on {many(cell.ranks, 'rank')}")
        if cell.groups > 1 and not cell.members:
            words.append(f"in {cell.groups} groups")
        if cell.members:
            words.append(f"(ranks {cell.members})")
        return " ".join([*words, *phrases(cell)])

    @property
    def fitted(self) -> tuple[Row, ...]:
        """The rows that models are made of: a collective of no bytes may return at once."""
        if len(self.rows) < 2 or self.first.message_bytes != 0:
            return self.rows
        if 2 * self.first.latency.value < self.rows[1].latency.value:
            return self.rows[1:]
        return self.rows

    @cached_property
    def pieces(self) -> Pieces | None:
        """The curve as lines in pieces; None: it has fewer than three sizes."""
        return in_pieces(known_points(self.fitted))

    def row(self, message_bytes: int) -> Row:
        """The row of this size. KeyError: the curve has none."""
        for row in self.rows:
            if row.message_bytes == message_bytes:
                return row
        raise KeyError(message_bytes)

    def behind(self, message_bytes: int) -> tuple[Row, ...]:
        """The rows of larger messages."""
        return tuple(row for row in self.rows if row.message_bytes > message_bytes)


@dataclass(frozen=True)
class RunView:
    run: Run
    rows: tuple[Row, ...]
    """The rows with a time."""
    topologies: Mapping[str, Topology] = field(hash=False)
    """The topologies of the hosts that the run describes, by the hosts' own names."""
    whole: RunView | None = field(default=None, repr=False)
    """The view that this is a part of; None: it is all of the run."""
    pairs: PairMap | None = field(default=None, repr=False)
    """All pairs of a large map, of which `rows` are a part; None: they follow from the rows."""

    @classmethod
    def of(
        cls, run: Run, rows: Iterable[Row] | None = None, pairs: PairMap | None = None
    ) -> RunView:
        """Makes the view of a run. `rows`: those of all its cells, if already made."""
        if rows is None:
            precision = run.launches[0].precision if run.launches else None
            rows = rows_of(run.cells, precision, run.between)
        timed = [row for row in rows if row.cell.time_p50_s > 0]
        return cls(run, tuple(timed), _topologies(run.passport), pairs=pairs)

    def part(self, does: frozenset[Does]) -> RunView:
        """The part of the view whose benchmarks do one of these."""
        rows = tuple(row for row in self.rows if nature_of(row).does in does)
        if len(rows) == len(self.rows):
            return self
        return replace(self, rows=rows, whole=self)

    @cached_property
    def memo(self) -> dict[str, Any]:
        """Results of analyses of all curves for reuse, by name."""
        return {}

    @cached_property
    def fabric(self) -> Fabric | None:
        """The network of all hosts at once; None: the run has not measured one."""
        from mpigauge.result.fabric.fabric import fabric_of

        return self.whole.fabric if self.whole else fabric_of(self.run, self.rows)

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """The rows as curves, in the order of their first rows."""
        if self.whole is not None:
            kept = set(map(id, self.rows))
            return tuple(curve for curve in self.whole.curves if id(curve.first) in kept)
        curves = []
        for rows in grouped(self.rows, lambda row: variant_of(row.cell)).values():
            curves.append(Curve(tuple(sorted(rows, key=_size))))
        return tuple(curves)

    @property
    def run_word(self) -> str:
        """The word for the run in recommended commands."""
        return word_for(self.run.path)

    @property
    def machine(self) -> Mapping[str, Any]:
        """The machine as stored in the passport; empty: it is not recorded."""
        return self.run.passport.get("machine") or {}

    @property
    def mpi_name(self) -> str:
        """The name of the MPI: mpich, openmpi, intel …; empty: it is not recorded."""
        return str((self.run.header.get("mpi") or {}).get("name") or "")

    @property
    def mpi_version(self) -> str:
        return str((self.run.header.get("mpi") or {}).get("version") or "")

    @property
    def transport(self) -> str:
        """The requested transport, and the one that the MPI reported; empty: the MPI chose."""
        selected = self.run.header.get("transport") or {}
        name, used = str(selected.get("name") or ""), str(selected.get("used") or "")
        if used:
            return f"{name} ({used})"
        return name

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """Environment variables that were set for all ranks, by the run's options too."""
        result = dict(self.run.passport.get("environment") or {})
        for source in (self.run.plan, self.run.header.get("transport") or {}):
            for name in ("env", "settings"):
                result |= source.get(name) or {}
        return {str(name): str(value) for name, value in result.items()}

    def settings_of(self, row: Row) -> Mapping[str, str]:
        """The settings of a row, with those that a sweep sets for it."""
        settings = dict(self.settings)
        for word in row.cell.arm.split():
            name, mark, value = word.partition("=")
            if mark:
                settings[name] = value
        return settings

    def ranks_of(self, row: Row) -> tuple[Rank, ...]:
        """Returns the ranks of a row in its first launch; none: they are not recorded."""
        members = []
        for word in row.cell.members.split(","):
            if word.isdigit():
                members.append(int(word))
        there = self._ranks.get(row.cell.launch, {})
        if members:
            return tuple(there[rank] for rank in members if rank in there)
        count = row.cell.ranks * row.cell.groups
        return tuple(there[rank] for rank in sorted(there) if 0 <= rank < count)

    def where(self, row: Row) -> Where:
        """Ranks of one host that talk over TCP count as on a network."""
        hosts = {rank.host for rank in self.ranks_of(row)}
        if not hosts:
            return "network" if row.cell.placement == HOSTS else ""
        if len(hosts) > 1 or "tcp" in self.transport:
            return "network"
        return "node"

    def caches_of(self, row: Row) -> tuple[Cache, ...]:
        """Returns the data caches of its ranks' cores, the smallest first, one of each kind; all of
        the machine if the ranks' cores are not recorded."""
        ranks = self.ranks_of(row)
        pus = {rank.host: pus_of(rank) for rank in ranks}
        caches: dict[tuple[int, int], Cache] = {}
        for name, topology in self.topologies.items():
            for cache in topology.caches:
                is_beside = not ranks or cache.pus & pus.get(name, frozenset())
                if cache.kind != "instruction" and is_beside:
                    caches[cache.level, cache.bytes] = cache
        return tuple(caches[key] for key in sorted(caches))

    @property
    def caches(self) -> tuple[Cache, ...]:
        """The caches of all its machines, but for those of instructions."""
        caches = []
        for topology in self.topologies.values():
            for cache in topology.caches:
                if cache.kind != "instruction":
                    caches.append(cache)
        return tuple(caches)

    def share(self, row: Row, level: int) -> bool:
        """True if all ranks of a row share one cache of this level."""
        pus: set[int] = set()
        for rank in self.ranks_of(row):
            pus.update(pus_of(rank))
        if not pus:
            return False
        of_level = [cache for cache in self.caches if cache.level == level]
        return any(pus <= cache.pus for cache in of_level)

    def cost(self, shares: Iterable[float]) -> float:
        """The share of the time of all rows, each counted alike, that rows lose: these shares of
        their own."""
        return sum(shares) / len((self.whole or self).rows)

    @cached_property
    def _ranks(self) -> Mapping[int, Mapping[int, Rank]]:
        by_launch: dict[int, dict[int, Rank]] = {}
        for rank in self.run.ranks:
            by_launch.setdefault(rank.launch, {})[rank.rank] = rank
        return by_launch


def members(curves: Sequence[Curve]) -> tuple[Member, ...]:
    """The curves as numbers alone: sizes in bytes, times in seconds."""
    columns = varied([variant_of(curve.first.cell) for curve in curves])
    return tuple(_member(curve, columns) for curve in curves)


def _member(curve: Curve, columns: Sequence[str]) -> Member:
    """`columns`: those in which the curves differ."""
    sizes, times, errors, wrong = [], [], [], 0
    for row in curve.rows:
        sizes.append(row.message_bytes)
        times.append(row.latency.value)
        errors.append(row.relative_error)
        wrong += row.wrong_count
    return Member(
        benchmark=curve.benchmark,
        ranks=curve.first.ranks,
        columns=tuple((name, getattr(curve.first.cell, name)) for name in columns),
        sizes=tuple(sizes),
        times=tuple(times),
        errors=tuple(errors),
        wrong=wrong,
    )


def _size(row: Row) -> int:
    return row.message_bytes


def _topologies(passport: Mapping[str, object]) -> dict[str, Topology]:
    """The topologies that are stored of a run's hosts, by the names that these give themselves."""
    machines = [passport.get("machine")]
    hosts = passport.get("hosts")
    if isinstance(hosts, list):
        machines += [host.get("machine") for host in hosts]
    topologies = {}
    for machine in machines:
        # A run of a version that did not store it, or of another program, has none.
        if isinstance(machine, Mapping):
            with suppress(KeyError, TypeError):
                topology = stored(machine)
                topologies[topology.hostname] = topology
    return topologies

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What an analysis looks at: a stored run, its rows as curves, and where its ranks sat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from mpigauge.model.column_facts import phrases
from mpigauge.model.cpu_lists import pus_of
from mpigauge.model.units import many
from mpigauge.result.nature import nature_of
from mpigauge.result.stats.curve_stats import Member, variant_of, varied
from mpigauge.result.stats.launches import rows as rows_of
from mpigauge.result.stats.pieces import Pieces, in_pieces, known_points
from mpigauge.site.topology.stored import stored

if TYPE_CHECKING:
    from mpigauge.model.record import Rank
    from mpigauge.model.row import Row
    from mpigauge.model.topology import Cache, Topology
    from mpigauge.result.nature import Does
    from mpigauge.runs.store import Run

Where = Literal["node", "network", ""]
"""Between ranks of one host, of several; empty: the run does not say."""


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
        """The benchmark, and what tells this curve from others of it."""
        cell = self.first.cell
        words = [
            self.benchmark,
            f"on {many(cell.ranks, 'rank')}" if cell.ranks != 2 else "",
            f"in {cell.groups} groups" if cell.groups > 1 and not cell.members else "",
            f"(ranks {cell.members})" if cell.members else "",
            *phrases(cell),
        ]
        return " ".join(filter(None, words))

    @property
    def fitted(self) -> tuple[Row, ...]:
        """Those that models are made of: a collective of no bytes may return at once."""
        first, second = (*self.rows, *self.rows[:1])[:2]
        at_once = first.message_bytes == 0 and 2 * first.latency.value < second.latency.value
        return self.rows[1:] if at_once else self.rows

    @cached_property
    def pieces(self) -> Pieces | None:
        """None: it has fewer than three sizes."""
        return in_pieces(known_points(self.fitted))

    def row(self, message_bytes: int) -> Row:
        return next(row for row in self.rows if row.message_bytes == message_bytes)

    def behind(self, message_bytes: int) -> tuple[Row, ...]:
        """The rows of larger messages."""
        return tuple(row for row in self.rows if row.message_bytes > message_bytes)


@dataclass(frozen=True)
class RunView:
    run: Run
    rows: tuple[Row, ...]
    """Those with a time."""
    topologies: Mapping[str, Topology] = field(hash=False)
    """Of the hosts that the run describes, by the names that they give themselves."""
    whole: RunView | None = field(default=None, repr=False)
    """What this is a part of; None: it is all of the run."""

    @classmethod
    def of(cls, run: Run, rows: Iterable[Row] | None = None) -> RunView:
        """`rows`: of all its cells, for who has them already."""
        if rows is None:
            precision = run.launches[0].precision if run.launches else None
            rows = rows_of(run.cells, precision, run.between)
        timed = tuple(row for row in rows if row.cell.time_p50_s > 0)
        return cls(run, timed, _topologies(run.passport))

    def part(self, does: frozenset[Does]) -> RunView:
        """Only the benchmarks that do one of these."""
        rows = tuple(row for row in self.rows if nature_of(row).does in does)
        return self if len(rows) == len(self.rows) else replace(self, rows=rows, whole=self)

    @cached_property
    def known(self) -> dict[str, Any]:
        """What a look at all curves has found and others need too, by its name."""
        return {}

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        if self.whole is not None:
            kept = set(map(id, self.rows))
            return tuple(curve for curve in self.whole.curves if id(curve.first) in kept)
        found: dict[tuple[object, ...], list[Row]] = {}
        for row in self.rows:
            found.setdefault(variant_of(row.cell), []).append(row)
        return tuple(Curve(tuple(sorted(of, key=_size))) for of in found.values())

    @property
    def machine(self) -> Mapping[str, Any]:
        """Of the passport, as it was stored; empty: the run does not say."""
        return self.run.passport.get("machine") or {}

    @property
    def mpi_name(self) -> str:
        """mpich, openmpi, intel …; empty: the run does not say."""
        return str((self.run.header.get("mpi") or {}).get("name") or "")

    @property
    def mpi_version(self) -> str:
        return str((self.run.header.get("mpi") or {}).get("version") or "")

    @property
    def transport(self) -> str:
        """What was asked for, and what the MPI said that it used; empty: the MPI chose."""
        selected = self.run.header.get("transport") or {}
        name, used = (str(selected.get(key) or "") for key in ("name", "used"))
        return f"{name} ({used})" if used else name

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """Environment variables that were set for all ranks, by the run's options too."""
        known = dict(self.run.passport.get("environment") or {})
        for source in (self.run.plan, self.run.header.get("transport") or {}):
            for name in ("env", "settings"):
                known |= source.get(name) or {}
        return {str(name): str(value) for name, value in known.items()}

    def settings_of(self, row: Row) -> Mapping[str, str]:
        """With those that a sweep sets for it."""
        pairs = (word.partition("=") for word in row.cell.arm.split())
        return {**self.settings, **{name: value for name, mark, value in pairs if mark}}

    def ranks_of(self, row: Row) -> tuple[Rank, ...]:
        """Where the ranks of a row were in its first launch; none: the run does not say."""
        members = [int(word) for word in row.cell.members.split(",") if word.isdigit()]
        wanted = members or range(row.cell.ranks * row.cell.groups)
        there = self._ranks.get(row.cell.launch, {})
        return tuple(there[rank] for rank in wanted if rank in there)

    def where(self, row: Row) -> Where:
        """Ranks of one host that talk over TCP count as on a network."""
        hosts = {rank.host for rank in self.ranks_of(row)}
        if not hosts:
            return ""
        return "network" if len(hosts) > 1 or "tcp" in self.transport else "node"

    def caches_of(self, row: Row) -> tuple[Cache, ...]:
        """The data caches beside its ranks, the smallest first, one of each kind; all of the
        machine where the run does not say where ranks were."""
        found: dict[tuple[int, int], Cache] = {}
        ranks = self.ranks_of(row)
        pus = {rank.host: pus_of(rank) for rank in ranks}
        for name, topology in self.topologies.items():
            for cache in topology.caches:
                beside = not ranks or cache.pus & pus.get(name, frozenset())
                if cache.kind != "instruction" and beside:
                    found[cache.level, cache.bytes] = cache
        return tuple(found[key] for key in sorted(found))

    @property
    def caches(self) -> tuple[Cache, ...]:
        """Of all its machines, but for those of instructions."""
        found = (cache for topology in self.topologies.values() for cache in topology.caches)
        return tuple(cache for cache in found if cache.kind != "instruction")

    def share(self, row: Row, level: int) -> bool:
        """Whether all ranks of a row sit on one cache of this level."""
        pus = frozenset(pu for rank in self.ranks_of(row) for pu in pus_of(rank))
        return bool(pus) and any(pus <= c.pus for c in self.caches if c.level == level)

    def cost(self, shares: Iterable[float]) -> float:
        """The share of the time of all rows, each counted alike, that rows lose: these shares of
        their own."""
        return sum(shares) / len((self.whole or self).rows)

    @cached_property
    def _ranks(self) -> Mapping[int, Mapping[int, Rank]]:
        found: dict[int, dict[int, Rank]] = {}
        for rank in self.run.ranks:
            found.setdefault(rank.launch, {})[rank.rank] = rank
        return found


def members(curves: Sequence[Curve]) -> tuple[Member, ...]:
    """Curves as numbers alone."""
    told = varied([variant_of(curve.first.cell) for curve in curves])
    return tuple(
        Member(
            benchmark=curve.benchmark,
            ranks=curve.first.ranks,
            told=tuple((name, getattr(curve.first.cell, name)) for name in told),
            sizes=tuple(row.message_bytes for row in curve.rows),
            times=tuple(row.latency.value for row in curve.rows),
            errors=tuple(row.relative_error for row in curve.rows),
            wrong=sum(row.wrong_count for row in curve.rows),
        )
        for curve in curves
    )


def _size(row: Row) -> int:
    return row.message_bytes


def _topologies(passport: Mapping[str, object]) -> dict[str, Topology]:
    hosts = passport.get("hosts")
    machines = [passport.get("machine")]
    machines += [host.get("machine") for host in hosts] if isinstance(hosts, list) else []
    found = {}
    for machine in machines:
        # A run of a version that did not store it, or of another program, has none.
        if isinstance(machine, Mapping):
            with suppress(KeyError, TypeError):
                topology = stored(machine)
                found[topology.hostname] = topology
    return found

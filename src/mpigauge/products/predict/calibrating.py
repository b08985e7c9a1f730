# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The calibration that stored runs hold, and what none of them has measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.model.cards import FIRST_SUITE, NODE_SUITE
from mpigauge.model.column_facts import PREDICTED
from mpigauge.model.cpu_lists import pus_of
from mpigauge.model.errors import UserError
from mpigauge.model.placement_words import HOSTS
from mpigauge.model.placement_words import SOCKETS as ON_SOCKETS
from mpigauge.model.record import Figure
from mpigauge.model.row import Estimate
from mpigauge.model.units import listed
from mpigauge.products.predict.assumed import DEFAULTS, LATENCY_S, PAIR_BYTES_PER_S, interval
from mpigauge.products.predict.calibration import (
    NETWORK,
    PATHS,
    QUANTITIES,
    SOCKET,
    SOCKETS,
    Calibration,
    MessageTimes,
    Quantity,
)
from mpigauge.result.fabric.fabric import RANDOM
from mpigauge.result.fabric.impact import SUITE as FABRIC_SUITE
from mpigauge.result.models.breaks import likely_breaks
from mpigauge.result.models.loggp import loggp
from mpigauge.result.run_view import RunView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.model.columns import Cell
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import Curve
    from mpigauge.runs.store import Run

BANDS = ("Uniband", "Biband")
COPIES = ("Copy", "Copy_tuned")
"""STREAM's copy, with numbers of its own and as fast as a node does it."""
STREAM, MEGABYTES = "STREAM", 1e6
"""The benchmark of imported outputs of STREAM, and the unit of its rates."""
_LARGEST = 1 << 28
"""The size that the assumed times within a node reach."""
_LEAST_REDUCED = 4096
"""Reductions of fewer bytes are mostly the cost of a call."""
_USUAL = {"cache": ("", "hot"), "data": ("", "static"), "arm": ("",), "members": ("",),
            "layout": ("", "base"), "thread_level": ("",), "arrival": ("",)}  # fmt: skip
"""Columns that have one of these values where a benchmark is measured as usual."""


@dataclass(frozen=True)
class Calibrated:
    calibration: Calibration
    notes: tuple[str, ...]
    """Sentences about what was left out."""


@dataclass
class _Collected:
    unplaced: str
    """The path of PingPong where a run does not record it."""
    paths: dict[str, MessageTimes] = field(default_factory=dict)
    quantities: dict[str, Quantity] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(
        self, into: dict[str, MessageTimes] | dict[str, Quantity], name: str, value: object
    ) -> None:
        """The first run that has it counts."""
        if name in into:
            self.notes.append(
                f"{value.source} is left out: {name} is taken from {into[name].source}"  # type: ignore[attr-defined]
            )
        else:
            into[name] = value  # type: ignore[assignment]


def calibrated(runs: Sequence[Run], name: str, unplaced: str = "") -> Calibrated:
    """The calibration of runs of one machine. `unplaced`: the path of PingPong where a run does not
    record it. UserError: runs are of several machines or MPIs, or hold no times of messages."""
    views = [measured_view(run) for run in runs]
    machine = _one_of(views, machine_of, "machine")
    mpi = _one_of(views, lambda view: f"{view.mpi_name} {view.mpi_version}".strip(), "MPI")
    collected = _Collected(unplaced)
    for view in views:
        _read(view, collected)
    if not collected.paths:
        raise UserError(
            f"{listed(view.run_word for view in views)}: no PingPong whose place is recorded, of "
            "which a calibration is made; measure one by `mpigauge run PingPong --place hosts`, or "
            f"name the path of an imported one by --path {' or '.join(PATHS)}"
        )
    sockets = max((each.packages for view in views for each in view.topologies.values()), default=1)
    sockets = max(sockets, 2 if SOCKETS in collected.paths else 1)
    _assume(collected, sockets)
    paths = {each: collected.paths[each] for each in PATHS if each in collected.paths}
    quantities = {
        key: collected.quantities[key] for key in QUANTITIES if key in collected.quantities
    }
    calibration = Calibration(name, machine, mpi, sockets, paths, quantities)
    return Calibrated(calibration, tuple(collected.notes))


def measured_view(run: Run) -> RunView:
    """UserError: the run holds predictions, of which nothing is to be concluded."""
    view = RunView.of(run)
    if any(row.cell.origin == PREDICTED for row in view.rows):
        raise UserError(f"{view.run_word} is predicted; name a run that was measured")
    return view


def is_usual(cell: Cell) -> bool:
    """True if a benchmark was measured as it is without options."""
    return all(getattr(cell, name) in usual for name, usual in _USUAL.items())


def missing_lines(calibration: Calibration) -> Iterator[str]:
    """Yields what was not measured, with the command that measures it."""
    if NETWORK not in calibration.paths:
        yield f"{PATHS[NETWORK]}: mpigauge run PingPong --place hosts --hosts A,B"
    for name in calibration.assumed:
        about = PATHS.get(name) or QUANTITIES[name][2]
        yield f"{about}: {_MEASURE[name]}"


_MEASURE = {
    SOCKET: "mpigauge run PingPong --place compact",
    SOCKETS: "mpigauge run PingPong --place sockets",
    "network_card": "mpigauge run Biband --hosts A,B, with all cores of both",
    "node_copy": "mpigauge run Biband, with all cores of a node",
    "message_gap": "mpigauge run PingPong Uniband --np 2",
    "flag": "mpigauge run NODE:Line",
    "reduction": "mpigauge run Reduce_local",
}


def machine_of(view: RunView) -> str:
    """The machine of a run; empty: it records none."""
    return str(view.machine.get("cpu_model") or view.machine.get("hostname") or "")


def _one_of(views: Sequence[RunView], fact: Callable[[RunView], str], what: str) -> str:
    """UserError: runs that record this fact differ in it."""
    by_value: dict[str, RunView] = {}
    for view in views:
        if value := fact(view):
            by_value.setdefault(value, view)
    if len(by_value) > 1:
        (first, one), (second, other), *_ = by_value.items()
        raise UserError(
            f"the runs are of different {what}s: {one.run_word} of {first}, {other.run_word} of "
            f"{second}; calibrate each {what} by itself"
        )
    return next(iter(by_value), "")


# --- a run ----------------------------------------------------------------------------------
def _read(view: RunView, into: _Collected) -> None:
    for curve in view.curves:
        cell = curve.first.cell
        read = _READERS.get((cell.suite, cell.benchmark)) or _READERS.get(("", cell.benchmark))
        if read and is_usual(cell):
            read(view, curve, into)
    for curve in view.curves:
        if curve.benchmark == "Uniband" and curve.first.ranks == 2:
            _read_gap(view, curve, into)
    _read_stream(view, into)


def _read_path(view: RunView, curve: Curve, into: _Collected) -> None:
    if curve.first.ranks != 2:
        return
    name = path_of(view, curve.first) or into.unplaced
    if not name:
        into.notes.append(
            f"{_source(view, curve)} is left out: its run does not record where the ranks were; "
            f"--path {' or '.join(PATHS)} names it"
        )
        return
    rows = [row for row in curve.rows if row.latency.value > 0]
    if not any(row.message_bytes for row in rows):
        into.notes.append(
            f"{_source(view, curve)} is left out: it has no message of a byte or more"
        )
        return
    sizes = tuple(row.message_bytes for row in rows)
    path = MessageTimes(sizes, tuple(row.latency for row in rows), _source(view, curve))
    into.add(into.paths, name, path)
    if name == NETWORK:
        for each in likely_breaks(view, curve):
            if any(reason.kind == "eager" for reason in each.reasons):
                size = float(each.at.before_bytes)
                value = Estimate(size, size, float(each.at.after_bytes))
                into.quantities.setdefault("eager", Quantity(value, _source(view, curve)))


def path_of(view: RunView, row: Row) -> str:
    """The path of messages between two ranks; empty: it is not recorded."""
    ranks = view.ranks_of(row)
    if view.where(row) == "network":
        return NETWORK
    if not ranks:
        placement = row.cell.placement
        by_word = {HOSTS: NETWORK, ON_SOCKETS: SOCKETS}
        return by_word.get(placement, SOCKET if placement in ("socket", "l3", "compact") else "")
    packages = set()
    for rank in ranks:
        if topology := view.topologies.get(rank.host):
            packages |= {pu.package for pu in topology.pus if pu.number in pus_of(rank)}
    return SOCKETS if len(packages) > 1 else SOCKET


def _read_bands(view: RunView, curve: Curve, into: _Collected) -> None:
    """All cores at once: between two nodes the rate of a network card, within one of its copies."""
    hosts = [rank.host for rank in view.ranks_of(curve.first)]
    rates = [row.bandwidth for row in curve.rows if row.bandwidth]
    if len(hosts) <= 2 or not rates:
        return
    best = max(rates, key=lambda rate: rate.value)
    half = len(hosts) // 2
    if len(set(hosts)) == 1:
        into.add(into.quantities, "node_copy", Quantity(best, _source(view, curve)))
    elif len(set(hosts)) == 2 and len(set(hosts[:half])) == 1:
        ways = 2.0 if curve.benchmark == "Biband" else 1.0
        value = Quantity(best.times(1 / ways), _source(view, curve))
        into.add(into.quantities, "network_card", value)


def _read_all_pairs(view: RunView, curve: Curve, into: _Collected) -> None:
    """All cores of all hosts at once: the share of a host is the rate of its network card."""
    hosts = {rank.host for rank in view.ranks_of(curve.first)}
    cores = [view.topologies[host].cores for host in hosts if host in view.topologies]
    rates = [row.bandwidth for row in curve.rows if row.bandwidth]
    if rates and cores and len(hosts) > 1 and curve.first.ranks >= len(hosts) * max(cores):
        best = max(rates, key=lambda rate: rate.value)
        paired = len(hosts) // 2 * 2
        value = Quantity(best.times(1 / paired), _source(view, curve))
        into.add(into.quantities, "network_card", value)


def _read_copies(view: RunView, curve: Curve, into: _Collected) -> None:
    """STREAM's copy on all cores, of the largest arrays: it counts reads and writes, each of which
    is a half."""
    row = curve.rows[-1]
    hosts = {rank.host for rank in view.ranks_of(row)}
    cores = [view.topologies[host].cores for host in hosts if host in view.topologies]
    threads = row.ranks * max(row.cell.threads, 1)
    if len(cores) == len(hosts) == 1 and threads >= cores[0] and row.bandwidth:
        value = Quantity(row.bandwidth.times(0.5), _source(view, curve))
        into.add(into.quantities, "node_copy", value)


def _read_stream(view: RunView, into: _Collected) -> None:
    """Reads an output of STREAM itself, whose interval is from its slowest launch to its quickest.
    It does not record on how many cores it ran."""
    figures = [each for each in view.run.of(Figure) if each.benchmark == STREAM]
    rates = [each.value * MEGABYTES / 2 for each in figures if each.name == COPIES[0]]
    if not rates:
        if figures:
            into.notes.append(f"{view.run_word}, STREAM, is left out: it has no {COPIES[0]}")
        return
    ends = (min(rates), max(rates)) if len(rates) > 1 else (math.nan, math.nan)
    source = f"{view.run_word}: {COPIES[0]}, {figures[0].source}, taken as of all cores"
    into.add(into.quantities, "node_copy", Quantity(Estimate(median(rates), *ends), source))


def _read_reduction(view: RunView, curve: Curve, into: _Collected) -> None:
    costs = []
    for row in curve.rows:
        if row.message_bytes >= _LEAST_REDUCED:
            costs.append(row.latency.times(1 / row.message_bytes))
    if costs:
        value = Estimate(*(median(ends) for ends in zip(*costs, strict=True)))
        into.add(into.quantities, "reduction", Quantity(value, _source(view, curve)))


def _read_flag(view: RunView, curve: Curve, into: _Collected) -> None:
    into.add(into.quantities, "flag", Quantity(curve.first.latency, _source(view, curve)))


_READERS: Mapping[tuple[str, str], Callable[[RunView, Curve, _Collected], None]] = {
    (FIRST_SUITE, "PingPong"): _read_path,
    **{(FIRST_SUITE, name): _read_bands for name in BANDS},
    (FABRIC_SUITE, RANDOM): _read_all_pairs,
    **{(NODE_SUITE, name): _read_copies for name in COPIES},
    (NODE_SUITE, "Line"): _read_flag,
    ("", "Reduce_local"): _read_reduction,
}
"""The readers of benchmarks, by suite and name; an empty suite stands for any."""


def _read_gap(view: RunView, curve: Curve, into: _Collected) -> None:
    placement = curve.first.cell.placement
    pair = [row for row in view.rows if row.ranks == 2 and row.cell.placement == placement]
    if gap := loggp(pair).gap:
        into.add(into.quantities, "message_gap", Quantity(gap, _source(view, curve)))


def _source(view: RunView, curve: Curve) -> str:
    program = curve.first.cell.source
    return f"{view.run_word}: {curve.label}{f', {program}' if program else ''}"


# --- what is missing ------------------------------------------------------------------------
def _assume(into: _Collected, sockets: int) -> None:
    """Fills in what was not measured, within a node; the network cannot be assumed."""
    paths = into.paths
    if not paths.keys() & {SOCKET, SOCKETS}:
        paths[SOCKET] = _assumed_path()
    for name, other in ((SOCKET, SOCKETS), (SOCKETS, SOCKET)):
        if name not in paths and (sockets > 1 or name == SOCKET):
            there = paths[other]
            paths[name] = MessageTimes(there.sizes, there.times, f"as [path.{other}]", True)
    for name, default in DEFAULTS.items():
        into.quantities.setdefault(name, Quantity(interval(default), "default", assumed=True))
    if NETWORK in paths and "network_card" not in into.quantities:
        rate = paths[NETWORK].sizes[-1] / paths[NETWORK].times[-1].value
        value = Estimate(rate, rate, 2 * rate)
        source = f"one pair of [path.{NETWORK}] fills it"
        into.quantities["network_card"] = Quantity(value, source, assumed=True)


def _assumed_path() -> MessageTimes:
    sizes = (0, _LARGEST)
    times = [interval(LATENCY_S + size / PAIR_BYTES_PER_S) for size in sizes]
    source = f"default, {LATENCY_S * 1e6:g} µs and {PAIR_BYTES_PER_S / 1e9:g} GB/s"
    return MessageTimes(sizes, tuple(times), source, assumed=True)

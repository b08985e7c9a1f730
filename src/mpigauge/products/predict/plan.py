# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge calibrate --measure`: what calibrations take and no run has, in minutes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.measuring.plan.resolve import pair_parts, plan_of
from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.errors import UserError
from mpigauge.model.sizes import parse_sizes
from mpigauge.products.predict.calibration import NETWORK, SOCKET, SOCKETS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi

SECONDS = 120.0
"""The time for all launches; less if all is precise."""
PAIR_SIZES = tuple(parse_sizes("0,8,16,32,64,128,256,512,1Ki..4Mi"))
GAP_SIZES = (8,)
BAND_SIZES = tuple(parse_sizes("64Ki,256Ki"))
BAND_INFLIGHT = {"inflight": "8"}
"""Enough for all cores to fill a card, and not so many that a slow link takes minutes for them."""
REDUCED_SIZES = tuple(parse_sizes("4Ki,64Ki,1Mi"))
_PLACES = {NETWORK: "hosts", SOCKET: "compact", SOCKETS: "sockets"}


def calibration_plan(
    request: Request, cards: Cards, resources: Resources, mpi: Mpi, present: Collection[str]
) -> Plan:
    """UserError: nothing is missing that can be measured here."""
    parts = tuple(_parts(request, cards, resources, frozenset(present)))
    if not parts:
        raise UserError("--measure: the runs have all that can be measured here")
    plan = plan_of(request, parts, cards, resources, mpi)
    return replace(plan, seconds=plan.seconds or SECONDS)


def _parts(
    request: Request, cards: Cards, resources: Resources, present: frozenset[str]
) -> Iterator[PlanPart]:
    line = f"{NODE_SUITE}:Line"
    paths = list(_paths(resources))
    for path in paths:
        names = ["PingPong"] if path not in present else []
        if path == SOCKET and "flag" not in present and cards.get(line):
            names.append(line)
        if names:
            yield from _pairs(request, resources, path, names, PAIR_SIZES)
    if paths and "message_gap" not in present:
        names = ["PingPong", "Uniband"] if paths[0] in present else ["Uniband"]
        yield from _pairs(request, resources, paths[0], names, GAP_SIZES)
    one, two = (replace(resources, hosts=resources.hosts[:count]) for count in (1, 2))
    if "node_copy" not in present:
        yield from _bands(request, one)
    if NETWORK in paths and "network_card" not in present:
        yield from _bands(request, two)
    if "reduction" not in present:
        part = PlanPart(("Reduce_local",), 1, (1,), REDUCED_SIZES)
        yield one.seated(part, one.placements(replace(request, np=1), usual=1)[0])


def _pairs(
    request: Request, resources: Resources, path: str, names: Sequence[str], sizes: tuple[int, ...]
) -> Iterator[PlanPart]:
    """Two ranks with this path between them."""
    where = resources.placements(replace(request, place=(_PLACES[path],)), usual=2)
    yield from pair_parts(resources, where, PlanPart(tuple(names), 2, (2,), sizes))


def _bands(request: Request, resources: Resources) -> Iterator[PlanPart]:
    """All cores at once, if there are more than two."""
    where = resources.placements(request, usual=resources.room)[0]
    if where.ranks > 2:
        ranks = (where.ranks - where.ranks % 2,)
        part = PlanPart(("Biband",), where.ranks, ranks, BAND_SIZES, suite_options=BAND_INFLIGHT)
        yield resources.seated(part, where)


def _paths(resources: Resources) -> Iterator[str]:
    """Yields the paths that these hosts have."""
    if len(resources.all_hosts) > 1:
        yield NETWORK
    host = resources.all_hosts[0].topology
    cores: dict[int, set[object]] = {}
    for pu in host.usable:
        cores.setdefault(pu.package, set()).add(pu.core)
    if any(len(each) > 1 for each in cores.values()):
        yield SOCKET
    if len(cores) > 1:
        yield SOCKETS

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The default placement: ranks spread evenly over the hosts, host by host, one core each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.placement import Placement, Seat
from mpigauge.model.units import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.site.placement.host_resources import HostResources


def even(
    hosts: Sequence[HostResources],
    world: int,
    ppn: int | None = None,
    oversubscribe: bool = False,
    bound: bool = True,
) -> Placement:
    """Returns the default placement, without cores if there are too few or `bound` is False."""
    counts = share_out(hosts, world, ppn, oversubscribe)
    seats = (s for host, n in zip(hosts, counts, strict=True) for s in _on(host, n, bound))
    return Placement("", tuple(seats))


def room(hosts: Sequence[HostResources], ppn: int | None) -> int:
    """Returns the number of ranks that fit on the hosts together."""
    return sum(host.room if ppn is None else ppn for host in hosts)


def share_out(
    hosts: Sequence[HostResources], world: int, ppn: int | None, oversubscribe: bool
) -> tuple[int, ...]:
    """Returns the ranks of each host: `ppn` until none are left, else as evenly as slots or cores
    permit.

    UserError: the ranks do not fit.
    """
    if ppn is not None:
        _check_ppn(hosts, ppn, oversubscribe)
        most = [ppn] * len(hosts)
    else:
        most = [_shared(host, world) if oversubscribe else host.room for host in hosts]
    if world > sum(most):
        raise UserError(_toomany(hosts, most, world, ppn))
    return tuple(_filled(most, world) if ppn is not None else _even(most, world))


def _shared(host: HostResources, world: int) -> int:
    """Returns the ranks of this host when ranks may share cores."""
    return world if host.most is None else min(host.most, world)


def _on(host: HostResources, ranks: int, bound: bool) -> Iterator[Seat]:
    if not bound or ranks > len(host.cores):
        return (host.seat() for _ in range(ranks))
    return (host.seat(pu) for pu in host.cores[:ranks])


def _check_ppn(hosts: Sequence[HostResources], ppn: int, oversubscribe: bool) -> None:
    for host in hosts:
        if oversubscribe and host.most is not None and ppn > host.most:
            raise UserError(f"--ppn {ppn} is more than max_slots={host.most} of host {host.name}")
        if ppn > host.room and not oversubscribe:
            what = "slot" if host.slots is not None else "core"
            raise UserError(
                f"--ppn {ppn} is more than the {many(host.room, what)} of host {host.name}; "
                "name fewer, or add --oversubscribe if ranks shall share cores"
            )


def _toomany(
    hosts: Sequence[HostResources], most: Sequence[int], world: int, ppn: int | None
) -> str:
    each = ", ".join(f"{host.name} {n}" for host, n in list(zip(hosts, most, strict=True))[:6])
    more = ", …" if len(hosts) > 6 else ""
    other = "a larger --ppn" if ppn is not None else "--oversubscribe if ranks shall share cores"
    return (
        f"{world} ranks are more than the {many(sum(most), 'slot')} of the hosts "
        f"({each}{more}); name more hosts, or {other}"
    )


def _filled(most: Sequence[int], world: int) -> list[int]:
    counts: list[int] = []
    for each in most:
        counts.append(min(each, world - sum(counts)))
    return counts


def _even(most: Sequence[int], world: int) -> list[int]:
    """Adds one rank to each host in turn, up to its maximum, until all are placed."""
    counts = [0] * len(most)
    while (left := world - sum(counts)) > 0:
        open_to = [i for i, each in enumerate(most) if counts[i] < each]
        step = max(1, min(left // len(open_to), *(most[i] - counts[i] for i in open_to)))
        for i in open_to[:left]:
            counts[i] += step
    return counts

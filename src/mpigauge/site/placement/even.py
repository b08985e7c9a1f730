# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Where ranks sit when nobody says it: shared out over the hosts, host by host, a core for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.placement import Placement, Seat
from mpigauge.model.units import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.site.placement.site import Site


def even(
    sites: Sequence[Site],
    world: int,
    ppn: int | None = None,
    oversubscribe: bool = False,
    bound: bool = True,
) -> Placement:
    """Ranks have no core of their own where there are too few, or where they shall not be bound."""
    counts = share_out(sites, world, ppn, oversubscribe)
    seats = (s for site, n in zip(sites, counts, strict=True) for s in _on(site, n, bound))
    return Placement("", tuple(seats))


def room(sites: Sequence[Site], ppn: int | None) -> int:
    """Ranks that the hosts can take together."""
    return sum(site.room if ppn is None else ppn for site in sites)


def share_out(
    sites: Sequence[Site], world: int, ppn: int | None, oversubscribe: bool
) -> tuple[int, ...]:
    """Ranks of each host: `ppn` as long as there are ranks, else as evenly as there is room."""
    if ppn is not None:
        _check_ppn(sites, ppn, oversubscribe)
        most = [ppn] * len(sites)
    else:
        most = [world if oversubscribe else site.room for site in sites]
    if world > sum(most):
        raise UserError(_toomany(sites, most, world, ppn))
    return tuple(_filled(most, world) if ppn is not None else _even(most, world))


def _on(site: Site, ranks: int, bound: bool) -> Iterator[Seat]:
    if not bound or ranks > len(site.cores):
        return (site.seat() for _ in range(ranks))
    return (site.seat(pu) for pu in site.cores[:ranks])


def _check_ppn(sites: Sequence[Site], ppn: int, oversubscribe: bool) -> None:
    for site in sites:
        if ppn > site.room and not oversubscribe:
            what = "slot" if site.slots is not None else "core"
            raise UserError(
                f"--ppn {ppn} is more than the {many(site.room, what)} of host {site.name}; "
                "name fewer, or add --oversubscribe if ranks shall share cores"
            )


def _toomany(sites: Sequence[Site], most: Sequence[int], world: int, ppn: int | None) -> str:
    each = ", ".join(f"{site.name} {n}" for site, n in list(zip(sites, most, strict=True))[:6])
    more = ", …" if len(sites) > 6 else ""
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
    """One more for each host in turn, until all ranks have a place."""
    counts = [0] * len(most)
    while (left := world - sum(counts)) > 0:
        open_to = [i for i, each in enumerate(most) if counts[i] < each]
        step = max(1, min(left // len(open_to), *(most[i] - counts[i] for i in open_to)))
        for i in open_to[:left]:
            counts[i] += step
    return counts

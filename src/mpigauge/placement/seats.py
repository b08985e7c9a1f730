# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How many ranks each host gets. Ranks are numbered host by host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.hosts import Node


def room(nodes: Sequence[Node], ppn: int | None) -> int:
    """Ranks that the hosts can take together."""
    return sum(node.room if ppn is None else ppn for node in nodes)


def share_out(
    nodes: Sequence[Node], world: int, ppn: int | None, oversubscribe: bool
) -> tuple[int, ...]:
    """Ranks of each host: `ppn` as long as there are ranks, else as evenly as there is room."""
    if ppn is not None:
        _check_ppn(nodes, ppn, oversubscribe)
        most = [ppn] * len(nodes)
    else:
        most = [world if oversubscribe else node.room for node in nodes]
    if world > sum(most):
        raise UserError(_too_many(nodes, most, world, ppn))
    return tuple(_filled(most, world) if ppn is not None else _even(most, world))


def _check_ppn(nodes: Sequence[Node], ppn: int, oversubscribe: bool) -> None:
    for node in nodes:
        if ppn > node.room and not oversubscribe:
            what = "slot" if node.slots is not None else "core"
            raise UserError(
                f"--ppn {ppn} is more than the {_many(node.room, what)} of host {node.name}; "
                "name fewer, or add --oversubscribe if ranks shall share cores"
            )


def _too_many(nodes: Sequence[Node], most: Sequence[int], world: int, ppn: int | None) -> str:
    each = ", ".join(f"{node.name} {n}" for node, n in list(zip(nodes, most, strict=True))[:6])
    more = ", …" if len(nodes) > 6 else ""
    other = "a larger --ppn" if ppn is not None else "--oversubscribe if ranks shall share cores"
    return (
        f"{world} ranks are more than the {_many(sum(most), 'slot')} of the hosts "
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


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"

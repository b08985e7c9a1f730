# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints where each rank stood at its end, or stands now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.units import duration, many
from mpigauge.model.width import WIDTH, wrap
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.match.standing import Standing
from mpigauge.products.profile.show.tables import table_lines, without_unknown

MOST_ROWS = 40
_HEADS = ("rank", "call", "for", "communicator", "peer", "place")


def unfinished(account: Account) -> tuple[Standing, ...]:
    """Returns where each rank stood, if the program did not end in order; else nothing."""
    places = account.profile.standings
    if all(each.state == "finalized" for each in places):
        return ()
    return places


def standing_lines(account: Account, title: str, width: int = WIDTH) -> Iterator[str]:
    """Yields a deadlock in words, and a table of all ranks; ranks that stand alike share a row."""
    places = unfinished(account)
    if not places:
        return
    if account.profile.deadlock:
        yield from wrap(account.profile.deadlock, width)
    yield title
    rows = [_row(account, alike) for alike in _alike(places)]
    heads, shown = without_unknown(_HEADS, rows[:MOST_ROWS], ("communicator", "peer"))
    last = len(heads) - 1
    yield from table_lines(heads, shown, width, last, [0, 1, *range(3, last + 1)])
    if len(rows) > MOST_ROWS:
        yield f"and {many(len(rows) - MOST_ROWS, 'more row')}"


def _alike(places: Sequence[Standing]) -> list[list[Standing]]:
    together: dict[object, list[Standing]] = {}
    for each in places:
        key = each.state, each.call, each.site, each.communicator, each.about
        together.setdefault(key, []).append(each)
    return list(together.values())


def _row(account: Account, alike: Sequence[Standing]) -> list[str]:
    first = alike[0]
    shortest, longest = min(each.seconds for each in alike), max(each.seconds for each in alike)
    times = list(dict.fromkeys((duration(shortest), duration(longest))))
    return [
        as_list(sorted({each.rank for each in alike})),
        _call(first),
        "…".join(times),
        first.communicator,
        first.about,
        account.where(account.profile.spots[first.site]),
    ]


def _call(standing: Standing) -> str:
    name = standing.call.removeprefix("MPI_")
    if standing.state == "in":
        return name
    if standing.state == "outside":
        return f"none, after {name}"
    return standing.state

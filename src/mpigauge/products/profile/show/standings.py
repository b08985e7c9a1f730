# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints where each rank stood at its end, or stands now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.units import duration, many
from mpigauge.model.width import WIDTH, one_line, wrap
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.match.standing import Standing
from mpigauge.products.profile.show.tables import table_lines, without_unknown

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen

MOST_ROWS = 40
_HEADS = ("rank", "call", "for", "communicator", "peer", "place")


class Redrawn:
    """Shows where ranks stand now: on a terminal in place of what was there, else again when a rank
    has moved on."""

    def __init__(self, write: Callable[[str], None], screen: Callable[[], Screen]) -> None:
        self._write, self._screen = write, screen
        self._lines = 0
        self._before: object = None

    def show(self, accounts: Sequence[Account]) -> None:
        screen = self._screen()
        standings = [each.profile.standings for each in accounts]
        moved_on = [[replace(one, seconds=0.0) for one in each] for each in standings]
        if not screen.live and moved_on == self._before:
            return
        self._before = moved_on
        lines = list(self._page(accounts, screen.room or WIDTH))
        back = f"\x1b[{self._lines}F\x1b[J" if screen.live and self._lines else ""
        self._write(back + "".join(f"{one_line(line)}\n" for line in lines))
        self._lines = len(lines)

    def _page(self, accounts: Sequence[Account], width: int) -> Iterator[str]:
        for each in accounts:
            title = f"{each.job.program}: {many(len(each.ranks), 'rank')}, now:"
            yield from standing_lines(each, title, width)
            yield ""


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

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Draws a profile: ranks, arrivals, peers, sizes, and MPI over the run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.draw.axes import SIZE, Axis, plain, seconds, share
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.draw.scale import ColourScale
from mpigauge.draw.squares import square
from mpigauge.draw.styles import GRID, PAPER, colour, stroke, text, words
from mpigauge.model.units import byte_count, duration, many, memory, percent

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account, Numbers, Sizes
    from mpigauge.runs.store.arrivals import ArrivalPattern

STEPS = 200
MOST_CALLS = 8
"""The maximum number of curves of sizes."""
MOST_PATTERNS, MOST_RANKS, PATTERN_STEPS = 3, 8, 41
"""The maximum numbers of collectives and of their ranks, and the points of a curve."""
MOST_BARS, MOST_SQUARES = 64, 96
"""The numbers of ranks above which a bar or the side of a square stands for several."""
_WIDE, _LEFT, _RIGHT, _TOP = 900, 120, 90, 60
_BAR, _GAP = 14, 6
_SQUARE, _LEAST_SIDE, _MOST_SIDE, _LEAST_WIDE = 44, 130, 520, 420
_NAMES = ("outside MPI", "in MPI")


def ranks(account: Account) -> Picture:
    """Draws a bar for each rank: its time outside MPI and in MPI, with waiting shown separately if
    it is known."""
    step = -(-len(account.ranks) // MOST_BARS)
    names, parts = _parts(account)
    bars = [_bar(account, parts, at, step) for at in range(0, len(account.ranks), step)]
    title = "Time of each rank" if step == 1 else f"Time of ranks, {step} together in the mean"
    return Picture(
        title=title,
        about="Bars last from the end of MPI_Init to the start of MPI_Finalize.",
        svg="".join(_bars(title, names, bars)),
        heads=("rank", "host", "run time", *names, "share of MPI"),
        rows=tuple(_rank_rows(account, parts)),
        names=names,
    )


def _parts(account: Account) -> tuple[tuple[str, ...], list[Numbers]]:
    """Returns the names of the parts of a rank's time, and the parts of each rank."""
    rows = account.profile.waits
    waiting = np.zeros(len(account.ranks))
    np.add.at(waiting, rows["rank"], rows["waiting_s"])
    if not waiting.any():
        return _NAMES, [account.own_s, account.mpi_s]
    waiting = np.minimum(waiting, account.mpi_s)
    names = (_NAMES[0], "waiting in MPI", "else in MPI")
    return names, [account.own_s, waiting, account.mpi_s - waiting]


def _bar(account: Account, parts: Sequence[Numbers], at: int, step: int) -> tuple[str, list[float]]:
    """Returns the name of a bar, and its parts in seconds."""
    end = min(at + step, len(account.ranks))
    first, last = account.ranks[at].rank, account.ranks[end - 1].rank
    times = [float(part[at:end].mean()) for part in parts]
    if step == 1:
        return f"rank {first}", times
    return f"ranks {first}–{last}", times


def _rank_rows(account: Account, parts: Sequence[Numbers]) -> Iterator[tuple[str, ...]]:
    for at, file in enumerate(account.ranks):
        row = [str(file.rank), file.host]
        for times in (account.run_s, *parts):
            row.append(duration(float(times[at])))
        yield (*row, percent(float(account.share[at])))


def _bars(
    title: str, names: Sequence[str], bars: Sequence[tuple[str, list[float]]]
) -> Iterator[str]:
    high = _TOP + len(bars) * (_BAR + _GAP) + 30
    longest = max((sum(parts) for _, parts in bars), default=0.0)
    by_second = (_WIDE - _LEFT - _RIGHT) / longest if longest > 0 else 0.0
    yield _begin(_WIDE, high, title)
    yield text(_WIDE / 2, 24, title, "ink", "middle", 16)
    for number, name in enumerate(names):
        x = _LEFT + 180.0 * number
        yield f'<g class="legend c{number}" data-series="{number}">'
        yield _box(x, 38, 12, 12, number)
        yield text(x + 18, 48, name, "ink") + "</g>"
    for place, (name, parts) in enumerate(bars):
        y, x = _TOP + place * (_BAR + _GAP), float(_LEFT)
        yield text(_LEFT - 8, y + _BAR - 3, name, "dim", "end", 11)
        for number, part in enumerate(parts):
            tip = f"{name}: {duration(part)} {names[number]}"
            yield f'<g class="series c{number}" data-series="{number}">'
            yield _box(x, y, part * by_second, _BAR, number, tip) + "</g>"
            x += part * by_second
        yield text(x + 6, y + _BAR - 3, duration(sum(parts)), "dim", size=11)
    yield "</svg>\n"


def arrivals(account: Account) -> Picture | None:
    """Draws the lateness of ranks at the longest collectives. None: unknown."""
    patterns = account.profile.arrivals[:MOST_PATTERNS]
    if not patterns:
        return None
    panels: list[Panel] = []
    rows: list[tuple[str, ...]] = []
    for pattern in patterns:
        panels.append(_pattern_panel(account, pattern))
        rows += _pattern_rows(account, pattern)
    left = len(account.profile.arrivals) - len(patterns)
    notes = []
    if left:
        notes.append(f"{many(left, 'collective')} that took less: profile/arrivals-* of the run.")
    about = (
        "Each curve shows in which share of some 256 calls a rank came no later than so long after "
        "the first rank."
    )
    plot = Plot("How late ranks come", about, tuple(panels), tuple(notes))
    return Picture(**{**vars(picture(plot)), "heads": _PATTERN_HEADS, "rows": tuple(rows)})


_PATTERN_HEADS = ("collective", "rank", "last in", "median", "9 of 10 within")


def _pattern_panel(account: Account, pattern: ArrivalPattern) -> Panel:
    """Returns a panel with the cumulative distribution of lateness of each rank, or of the latest
    ones if there are many."""
    means = pattern.lateness_s.mean(axis=0)
    shown = sorted(np.argsort(-means)[:MOST_RANKS].tolist())
    steps = np.linspace(0.0, 1.0, PATTERN_STEPS)
    curves = []
    for place in shown:
        times = np.quantile(pattern.lateness_s[:, place], steps)
        points = (Point(float(x), float(y)) for x, y in zip(times, steps, strict=True))
        curves.append(Series(f"rank {pattern.members[place]}", tuple(points)))
    x = Axis("after the first rank", seconds)
    return Panel(_pattern_name(account, pattern), x, Axis("share of calls", share), tuple(curves))


def _pattern_name(account: Account, pattern: ArrivalPattern) -> str:
    name = pattern.call
    if pattern.message_bytes:
        name += f" of {byte_count(pattern.message_bytes)}"
    where = account.where(account.profile.spots[pattern.spot])
    if where:
        name += f" in {where}"
    return name


def _pattern_rows(account: Account, pattern: ArrivalPattern) -> Iterator[tuple[str, ...]]:
    name = _pattern_name(account, pattern)
    last = np.bincount(pattern.lateness_s.argmax(axis=1), minlength=pattern.ranks)
    medians, late = np.quantile(pattern.lateness_s, (0.5, 0.9), axis=0)
    for place in np.argsort(-medians, kind="stable")[:MOST_BARS].tolist():
        yield (
            *(name, str(pattern.members[place]), percent(last[place] / len(pattern.lateness_s))),
            *(duration(float(medians[place])), duration(float(late[place]))),
        )


def peers(account: Account) -> Picture | None:
    """Draws a square for each sender and receiver, darker for more bytes. None: no rank of
    MPI_COMM_WORLD was sent anything."""
    pairs = [pair for pair in account.pairs if pair.bytes]
    if not pairs:
        return None
    most = max(max(pair.source, pair.target) for pair in pairs) + 1
    step = -(-max(most, account.job.expected) // MOST_SQUARES)
    side = -(-max(most, account.job.expected) // step)
    moved = np.zeros((side, side))
    for pair in pairs:
        moved[pair.source // step, pair.target // step] += pair.bytes
    together = "" if step == 1 else f" A square stands for {step} × {step} ranks."
    return Picture(
        title="What ranks sent to each other",
        about=f"Rows send and columns receive; darker squares are more bytes.{together}",
        svg="".join(_squares(moved, step)),
        heads=("from rank", "to rank", "messages", "bytes"),
        rows=tuple(
            (str(p.source), str(p.target), str(p.messages), memory(p.bytes)) for p in pairs[:2000]
        ),
        fixed=True,
    )


def _squares(moved: np.ndarray[tuple[int, int], np.dtype[np.float64]], step: int) -> Iterator[str]:
    count = len(moved)
    whole = min(max(_SQUARE * count, _LEAST_SIDE), _MOST_SIDE)
    side, left, top = whole / count, 70, 70
    scale = ColourScale.of(moved[moved > 0].tolist())
    wide = max(whole + 2 * left, _LEAST_WIDE)
    yield _begin(wide, whole + top + 56, "What ranks sent to each other")
    yield text(left, 24, "Bytes from rank (row) to rank (column)", "ink", size=14)
    every = max(1, -(-count // 16))
    for rank in range(0, count, every):
        middle, name = (rank + 0.5) * side, str(rank * step)
        yield text(left - 6, top + middle + 4, name, "dim", "end", 10)
        yield text(left + middle, top - 6, name, "dim", "middle", 10)
    for source, target in zip(*np.nonzero(moved), strict=True):
        amount = float(moved[source, target])
        x, y = left + target * side, top + source * side
        label = f"rank {source * step} to rank {target * step}: {memory(amount)}"
        yield square(x, y, side, side, amount, scale, label)
    for at in (0, count):
        end = left + whole, top + whole
        yield stroke(left, top + at * side, end[0], top + at * side, "grid", GRID)
        yield stroke(left + at * side, top, left + at * side, end[1], "grid", GRID)
    low, high = memory(scale.low), memory(scale.high)
    label = f"all that send: {low}" if scale.low == scale.high else f"light {low}, dark {high}"
    yield text(left, top + whole + 24, label, "dim")
    yield "</svg>\n"


def sizes(account: Account) -> Picture | None:
    """Draws the numbers and bytes of messages by call and size. None: no data."""
    kept = [each for each in account.sent if each.count]
    if not any(each.bytes for each in kept):
        return None
    calls = list(dict.fromkeys(each.call for each in kept))[:MOST_CALLS]
    panels = (
        Panel("Messages", SIZE, Axis("messages", plain, 10), _curves(kept, calls, "count")),
        Panel("Bytes", SIZE, Axis("bytes", memory, 2), _curves(kept, calls, "bytes")),
    )
    left = len({each.call for each in kept}) - len(calls)
    notes = []
    if left:
        notes.append(f"{many(left, 'call')} that moved less: in the table of sizes.")
    about = "The plot counts messages, also those of collectives, by powers of two of their size."
    drawn = picture(Plot("Sizes of messages", about, panels, tuple(notes)))
    return Picture(**{**vars(drawn), "heads": _SIZE_HEADS, "rows": tuple(_size_rows(account))})


_SIZE_HEADS = ("call", "", "from", "to", "messages", "bytes", "mean")


def _size_rows(account: Account) -> Iterator[tuple[str, ...]]:
    for each in account.sizes:
        yield (
            *(each.call, each.way.name.lower().replace("none", "")),
            *(byte_count(each.least), byte_count(each.most)),
            *(str(each.count), memory(each.bytes), memory(each.mean)),
        )


def _curves(kept: Sequence[Sizes], calls: Sequence[str], of: str) -> tuple[Series, ...]:
    curves = []
    for call in calls:
        amounts: Counter[int] = Counter()
        for each in kept:
            if each.call == call:
                amounts[round(each.mean)] += getattr(each, of)
        points = [Point(float(size), float(amounts[size])) for size in sorted(amounts)]
        curves.append(Series(call, tuple(points)))
    return tuple(curves)


def over_time(account: Account) -> Picture | None:
    """Draws the share of MPI over the run. None: no rank has a timeline."""
    if not any(file.timelines for file in account.ranks):
        return None
    moments, shares = account.over_time(STEPS)
    points = tuple(
        Point(float(at), float(value)) for at, value in zip(moments, shares, strict=True)
    )
    x = Axis("time after the first call of MPI", seconds)
    panel = Panel("Share of MPI", x, Axis("share of MPI", share), (Series("MPI", points),))
    about = (
        "The plot shows the share of MPI in the time of all ranks, with MPI_Init and MPI_Finalize."
    )
    drawn = picture(Plot("MPI over the run", about, (panel,)))
    return Picture(**{**vars(drawn), "heads": (), "rows": ()})


# --- marks ----------------------------------------------------------------------------------------
def _begin(wide: float, high: float, title: str) -> str:
    size = f"{math.ceil(wide)} {math.ceil(high)}"
    wide_, high_ = size.split()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{wide_}" '
        f'height="{high_}" font-family="sans-serif" font-size="12" role="img" '
        f'aria-label="{words(title)}">\n'
        f'<rect class="paper" width="100%" height="100%" fill="{PAPER}"/>\n'
    )


def _box(x: float, y: float, wide: float, high: float, number: int, tip: str = "") -> str:
    title = ""
    if tip:
        title = f"<title>{words(tip)}</title>"
    return (
        f'<rect class="dot" x="{x:.2f}" y="{y:.2f}" width="{max(wide, 0):.2f}" '
        f'height="{high:.2f}" fill="{colour(number)}">{title}</rect>'
    )

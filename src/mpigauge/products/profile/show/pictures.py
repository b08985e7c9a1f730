# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Draws a profile: ranks, arrivals, peers, sizes, and MPI over the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.draw.axes import SIZE, Axis, plain, seconds, share
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.draw.scale import ColourScale
from mpigauge.draw.squares import square
from mpigauge.draw.styles import GRID, stroke, text
from mpigauge.model.units import byte_count, duration, many, memory, percent
from mpigauge.products.profile.analyse.bound import WhatBounds
from mpigauge.products.profile.show.marks import begin, stacked

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.analyse.entries import Numbers, Pair, Sizes
    from mpigauge.products.profile.read.rank_file import Timeline
    from mpigauge.runs.store.arrivals import ArrivalPattern

STEPS = 200
MOST_CALLS = 8
"""The maximum number of curves of sizes."""
MOST_PATTERNS, MOST_RANKS, PATTERN_STEPS = 3, 8, 41
"""The maximum numbers of collectives and of their ranks, and the points of a curve."""
MOST_BARS, MOST_SQUARES = 32, 96
"""The numbers of ranks above which a bar or the side of a square stands for several."""
LEAST_IO = 0.01
"""The least share of I/O in the run time of a rank that is drawn."""
LEAST_RANGE = 10.0
"""The least ratio of the darkest to the lightest value: nearly equal ones look alike."""
_SQUARE, _LEAST_SIDE, _MOST_SIDE, _LEAST_WIDE = 44, 130, 520, 420


def ranks(account: Account) -> Picture:
    """Draws a bar for each rank: computation, moving and waiting in MPI, and I/O."""
    step = -(-len(account.ranks) // MOST_BARS)
    names, parts = _parts(account)
    bars = [_bar(account, parts, at, step) for at in range(0, len(account.ranks), step)]
    title = "Time of each rank" if step == 1 else f"Time of ranks, {step} together in the mean"
    return Picture(
        title=title,
        about="Bars last from the end of MPI_Init to the start of MPI_Finalize.",
        svg="".join(stacked(title, names, bars)),
        heads=("rank", "host", "run time", *names, "share of MPI"),
        rows=tuple(_rank_rows(account, parts)),
        names=names,
    )


def _parts(account: Account) -> tuple[tuple[str, ...], list[Numbers]]:
    """Returns the names of the parts of a rank's time, and the parts of each rank: computation,
    MPI without MPI-IO, and I/O. Waiting is a part of its own if it is known."""
    of = WhatBounds(account)
    rows = account.profile.waits
    waiting = np.zeros(len(account.ranks))
    np.add.at(waiting, rows["rank"], rows["waiting_s"])
    parts = {"computation": of.computing_s, "in MPI": of.messages_s}
    if waiting.any() and not of.is_starved:
        waiting = np.minimum(waiting, of.messages_s)
        del parts["in MPI"]
        parts |= {"moving in MPI": of.messages_s - waiting, "waiting in MPI": waiting}
    if float(of.io_s.max(initial=0.0)) >= LEAST_IO * float(account.run_s.max(initial=0.0)):
        parts["I/O"] = of.io_s
    else:
        parts["computation"] = account.run_s - of.messages_s
    return tuple(parts), list(parts.values())


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


@dataclass(frozen=True)
class Measure:
    """A number of each pair of ranks."""

    title: str
    about: str
    words: Callable[[float], str]
    of: Callable[[Pair], float]


MEASURES = {
    "bytes": Measure(
        "Bytes between ranks", "Rows send and columns receive", memory, lambda p: p.bytes
    ),
    "messages": Measure(
        "Messages between ranks",
        "Rows send and columns receive",
        lambda count: f"{count:.0f}",
        lambda p: p.messages,
    ),
    "time": Measure(
        "Time with each rank",
        "Rows spend the time in calls that send to or receive from columns; the time of a call "
        "site with several peers is divided by messages",
        duration,
        lambda p: p.seconds,
    ),
}


def peers(account: Account, measure: str = "bytes") -> Picture | None:
    """Draws a square for each pair of ranks, darker for more. None: no rank of MPI_COMM_WORLD was
    sent anything."""
    of = MEASURES[measure]
    pairs = [pair for pair in account.pairs if of.of(pair) > 0]
    if not pairs:
        return None
    most = max(max(pair.source, pair.target) for pair in pairs) + 1
    step = -(-max(most, account.job.expected) // MOST_SQUARES)
    side = -(-max(most, account.job.expected) // step)
    moved = np.zeros((side, side))
    for pair in pairs:
        moved[pair.source // step, pair.target // step] += of.of(pair)
    together = "" if step == 1 else f" A square stands for {step} × {step} ranks."
    return Picture(
        title=of.title,
        about=f"{of.about}; darker squares are more.{together}",
        svg="".join(_squares(moved, step, of)),
        heads=("from rank", "to rank", "messages", "bytes", "time"),
        rows=tuple(
            (str(p.source), str(p.target), str(p.messages), memory(p.bytes), duration(p.seconds))
            for p in pairs[:2000]
        ),
        fixed=True,
    )


def peers_scale(values: Sequence[float]) -> ColourScale:
    """Returns the colours for these values, whose range is at least LEAST_RANGE."""
    scale = ColourScale.of(values)
    return ColourScale(min(scale.low, scale.high / LEAST_RANGE), scale.high)


def _squares(
    moved: np.ndarray[tuple[int, int], np.dtype[np.float64]], step: int, of: Measure
) -> Iterator[str]:
    count = len(moved)
    whole = min(max(_SQUARE * count, _LEAST_SIDE), _MOST_SIDE)
    side, left, top = whole / count, 70, 70
    values = moved[moved > 0].tolist()
    scale = peers_scale(values)
    wide = max(whole + 2 * left, _LEAST_WIDE)
    yield begin(wide, whole + top + 56, of.title)
    yield text(left, 24, f"{of.title}: from row to column", "ink", size=14)
    every = max(1, -(-count // 16))
    for rank in range(0, count, every):
        middle, name = (rank + 0.5) * side, str(rank * step)
        yield text(left - 6, top + middle + 4, name, "dim", "end", 10)
        yield text(left + middle, top - 6, name, "dim", "middle", 10)
    for source, target in zip(*np.nonzero(moved), strict=True):
        amount = float(moved[source, target])
        x, y = left + target * side, top + source * side
        label = f"rank {source * step} to rank {target * step}: {of.words(amount)}"
        yield square(x, y, side, side, amount, scale, label)
    for at in (0, count):
        end = left + whole, top + whole
        yield stroke(left, top + at * side, end[0], top + at * side, "grid", GRID)
        yield stroke(left + at * side, top, left + at * side, end[1], "grid", GRID)
    least, most = of.words(min(values)), of.words(max(values))
    label = f"all: {most}" if least == most else f"{least} to {most}, darker for more"
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


def sent_over_time(account: Account) -> Picture | None:
    """Draws the bytes that all ranks send in a second, over the run. None: nothing was sent, or
    the run is of an older mpigauge."""
    end_s = max((max(file.on_s, file.run_s) for file in account.ranks), default=0.0)
    edges = np.linspace(0.0, end_s, STEPS + 1)
    sent = account.sent_between(edges)
    if not sent.any():
        return None
    points = tuple(
        Point(float(at), float(value))
        for at, value in zip(edges[1:], sent / np.diff(edges), strict=True)
    )
    x = Axis("time after the first call of MPI", seconds)
    y = Axis("bytes per second", lambda value: f"{memory(value)}/s")
    panel = Panel("Bytes sent", x, y, (Series("all ranks", points),))
    about = "Bytes of the send buffers of all ranks, at the time when their calls returned."
    drawn = picture(Plot("Bytes sent over the run", about, (panel,)))
    return Picture(**{**vars(drawn), "heads": (), "rows": ()})


def memory_over_time(account: Account) -> Picture | None:
    """Draws the memory of each rank over the run, of many ranks that of the largest. None: no rank
    has samples."""
    sampled = [
        (file, file.timelines[0]) for file in account.ranks
        if file.timelines and file.timelines[0].memory_bytes.any()
    ]  # fmt: skip
    if not sampled:
        return None
    sampled.sort(key=lambda each: -float(each[1].memory_bytes.max()))
    shown = sorted(sampled[:MOST_RANKS], key=lambda each: each[0].rank or 0)
    curves = tuple(Series(f"rank {file.rank}", _memory(line)) for file, line in shown)
    x = Axis("time after the first call of MPI", seconds)
    panel = Panel("Memory of ranks", x, Axis("memory", memory), curves)
    left = len(sampled) - len(shown)
    less = f" {many(left, 'more rank')} had less." if left else ""
    about = f"Resident memory of the process, sampled at most once in each step of time.{less}"
    drawn = picture(Plot("Memory over the run", about, (panel,)))
    return Picture(**{**vars(drawn), "heads": (), "rows": ()})


def _memory(line: Timeline) -> tuple[Point, ...]:
    """Returns the samples of a rank; steps without a call of MPI have none."""
    return tuple(
        Point(line.start_s + (int(at) + 1) * line.step_s, float(line.memory_bytes[at]))
        for at in np.flatnonzero(line.memory_bytes)
    )

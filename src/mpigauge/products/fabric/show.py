# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A network on one screen: shares, hot spots, the table of impacts, and who is to blame."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.screen import without_orders
from mpigauge.model.units import (
    UNKNOWN,
    listed,
    many,
    megabytes_per_s,
    number,
    percent,
)
from mpigauge.model.width import broken
from mpigauge.result.fabric.blame_words import sentences
from mpigauge.result.fabric.fabric import SPOTS, WAYS
from mpigauge.result.fabric.impact import AGGRESSORS, impact_name
from mpigauge.show.ending import last_lines
from mpigauge.show.heading import brief_heading, heading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.row import Estimate
    from mpigauge.result.document import Document
    from mpigauge.result.fabric.fabric import Fabric, HotSpot
    from mpigauge.result.fabric.impact import Impact
    from mpigauge.result.fabric.matchings import Pairing

SCREEN = 23
"""The lines of the smallest terminal, without the one for the next command."""
_HEAD, _COLUMN, _SHARE = 17, 10, 19


def page(
    document: Document, fabric: Fabric, colour: bool = False, whole: bool = False
) -> Iterator[str]:
    """The screen, in lines no wider than a terminal: the slow hosts, then the tables. Without
    `whole`, no more than SCREEN lines if there are a few findings; the last line has what is left
    out."""
    head = heading(document.facts) if whole else brief_heading(document.facts)
    tables = [[*_shares(fabric), *_spots(fabric)], list(_impacts(fabric.impacts, whole))]
    findings = [broken([each]) for each in _findings(fabric)]
    kept: Sequence[list[str]] = findings
    if not whole:
        others = sum(len(lines) + 1 for lines in tables if lines) + len(head) + 1
        end = len(_end(document, fabric, len(findings))) + 1
        kept = _fitting(findings, SCREEN - others - end)
    left_out = len(findings) - len(kept)
    end_lines = last_lines(document, colour=colour)
    if not whole:
        end_lines = _end(document, fabric, left_out, colour)
    yield from head
    for lines in ([line for each in kept for line in each], *tables, end_lines):
        if lines:
            yield ""
            yield from lines


def _findings(fabric: Fabric) -> list[str]:
    """A sentence on each host, link or group that is slow, on hot spots that collapse, and on
    aggressors that stopped."""
    falls = filter(None, map(_fall, fabric.hot_spots))
    stopped = [
        f"{impact_name(each.victim, each.message_bytes)} beside {each.aggressor} does not count: "
        "the aggressors stopped early"
        for each in fabric.impacts
        if each.is_stopped
    ]
    return [*sentences(fabric), *falls, *stopped]


def _fitting(findings: Sequence[list[str]], room: int) -> Sequence[list[str]]:
    """Returns the first findings that have room, at least one."""
    used = 0
    for place, lines in enumerate(findings):
        used += len(lines)
        if used > room and place > 0:
            return findings[:place]
    return findings


def _end(document: Document, fabric: Fabric, left_out: int, colour: bool = False) -> list[str]:
    """The count of remarks, and the command that prints what a short screen leaves out."""
    more = [f"{many(left_out, 'more finding')}"] if left_out else []
    if any(math.isfinite(each.tail.value) for each in fabric.impacts):
        more.append("99th percentiles")
    step = ""
    if more and document.run and document.facts.status == "done":
        step = f"`mpigauge show {without_orders(document.run)} --all` ({listed(more)})"
    return last_lines(document, step, colour)


def _shares(fabric: Fabric) -> list[str]:
    """The bandwidth of all pairs together as a share of the sum of what they reach alone."""
    lines = []
    for name, words in WAYS.items():
        pairing = fabric.pairing(name)
        if pairing and pairing.share and pairing.total:
            lines.append(_share_line(words, pairing, pairing.share, pairing.total))
    if not lines:
        return []
    head = (
        f"{'all at once':{_HEAD}}{'share of alone':>{_SHARE}}{'worst round':>13}"
        f"{'MB/s in all':>14}{'rounds':>8}"
    )
    return [head, *lines]


def _share_line(words: str, pairing: Pairing, share: Estimate, total: Estimate) -> str:
    worst = UNKNOWN
    if pairing.worst and len(pairing.compared) > 1:
        worst = percent(pairing.worst.share)
    return (
        f"{words:{_HEAD}}{_percent(share):>{_SHARE}}{worst:>13}"
        f"{megabytes_per_s(total.value):>14}{len(pairing.compared):>8}"
    )


def _percent(share: Estimate) -> str:
    if math.isfinite(share.error):
        return f"{percent(share.value)} ± {percent(share.error)}"
    return percent(share.value)


def _spots(fabric: Fabric) -> list[str]:
    """The total bandwidth of one host with a growing number of others."""
    if not fabric.hot_spots:
        return []
    counts = sorted({hosts for spot in fabric.hot_spots for hosts, _ in spot.totals})
    wide = 9
    shown = counts[-((80 - _HEAD) // wide) :]
    head = "".join(f"{hosts:>{wide}}" for hosts in shown)
    lines = [f"{'MB/s, hosts:':{_HEAD}}{head}"]
    for spot in fabric.hot_spots:
        totals = dict(spot.totals)
        cells = (megabytes_per_s(totals[each]) if each in totals else UNKNOWN for each in shown)
        lines.append(f"{SPOTS[spot.benchmark]:{_HEAD}}" + "".join(f"{c:>{wide}}" for c in cells))
    return lines


def _fall(spot: HotSpot) -> str:
    if spot.falls_at is None:
        return ""
    hosts, most = spot.best
    return (
        f"{SPOTS[spot.benchmark]}: with {many(spot.falls_at, 'host')} less than half of the "
        f"{megabytes_per_s(most)} MB/s with {hosts}"
    )


def _impacts(impacts: Sequence[Impact], with_tails: bool) -> Iterator[str]:
    """The times beside aggressors over those alone: medians, and 99th percentiles below them."""
    if not impacts:
        return
    there = [name for name in AGGRESSORS if any(each.aggressor == name for each in impacts)]
    yield f"{'times alone':{_HEAD}}" + "".join(f"{name:>{_COLUMN}}" for name in there)
    for victim, size in dict.fromkeys((each.victim, each.message_bytes) for each in impacts):
        row = {e.aggressor: e for e in impacts if (e.victim, e.message_bytes) == (victim, size)}
        cells = [_ratio(row[name], "median") if name in row else UNKNOWN for name in there]
        yield f"{impact_name(victim, size):{_HEAD}}" + _right(cells)
        cells = [_ratio(row[name], "tail") if name in row else UNKNOWN for name in there]
        if with_tails and set(cells) != {UNKNOWN}:
            yield f"{'  99 %':{_HEAD}}" + _right(cells)
    sent = {each.aggressor: each.aggressors_bytes_per_s for each in impacts}
    yield f"{'they send, MB/s':{_HEAD}}" + _right([megabytes_per_s(sent[name]) for name in there])


def _right(cells: Sequence[str]) -> str:
    return "".join(f"{cell:>{_COLUMN}}" for cell in cells)


def _ratio(impact: Impact, which: str) -> str:
    """A ratio with its error, as 1.04±0.02; a dash if the aggressors stopped."""
    if impact.is_stopped:
        return UNKNOWN
    ratio: Estimate = getattr(impact, which)
    if not math.isfinite(ratio.value):
        return UNKNOWN
    value = f"{ratio.value:.2f}" if ratio.value < 10 else number(ratio.value)
    if not math.isfinite(ratio.error):
        return f"{value}±?"
    return f"{value}±{ratio.error:.2f}" if ratio.error < 10 else f"{value}±{ratio.error:.0f}"

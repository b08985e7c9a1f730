# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Draws the timeline of a profile: ranks down, time across, MPI and waiting in colours.

Each row is filled by the share of MPI in steps of time, and in it by the share of waiting. If the
recorded calls hold nearly all time in MPI, both are of these calls; else MPI is of the 1000 steps
of the profiler. The last row has the bytes that all ranks send. A page replaces the picture by one
that zooms in to single calls.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.draw.plot import Picture
from mpigauge.draw.styles import colour, stroke, text, words
from mpigauge.model.units import duration, memory, percent
from mpigauge.products.profile.analyse.account import sent_between, share_between
from mpigauge.products.profile.analyse.iterations import covered, is_recorded
from mpigauge.products.profile.analyse.phases import Phase, phases
from mpigauge.products.profile.show.marks import begin, box

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.analyse.entries import Numbers

STEPS = 240
MOST_ROWS = 24
MOST_DRAWN = 12_000
"""The most calls that a page holds to zoom in to; the longest stay."""
_WIDE, _LEFT, _RIGHT, _TOP, _ROW, _GAP = 900, 90, 20, 76, 18, 4
NAMES = ("computation", "moving in MPI", "waiting in MPI")
_SENT = len(NAMES)
"""The colour of bytes."""


@dataclass(frozen=True)
class Rows:
    """The shares of MPI and of waiting in each step, by row, and the bytes of all rows."""

    names: tuple[str, ...]
    end_s: float
    mpi: Numbers
    waiting: Numbers
    is_recorded: bool
    """True if the share of MPI is of recorded calls, else of the profiler's steps."""
    sent: Numbers
    """The bytes that all ranks send per second, in each step; all 0: none, or unknown."""

    @property
    def most_sent(self) -> float:
        return float(self.sent.max())


def rows_of(account: Account) -> Rows | None:
    """Returns the rows of the timeline, of several ranks in the mean if there are many. None: no
    rank has steps of time."""
    if not any(file.timelines for file in account.ranks):
        return None
    end_s = max(max(file.on_s, file.run_s) for file in account.ranks)
    if not end_s > 0:
        return None
    edges = np.linspace(0.0, end_s, STEPS + 1)
    covered = np.array([_between(account, rank, edges) for rank in range(len(account.ranks))])
    mpi, waiting = covered[:, 0], covered[:, 1]
    has_recorded = is_recorded(account)
    if not has_recorded:
        mpi = np.array([_of_steps(account, rank, edges) for rank in range(len(account.ranks))])
        waiting = np.minimum(waiting, mpi)
    step = -(-len(account.ranks) // MOST_ROWS)
    starts = np.arange(0, len(account.ranks), step)
    names = tuple(_name(account, int(at), step) for at in starts)
    counts = np.diff([*starts, len(account.ranks)])[:, None]
    joined = [np.add.reduceat(each, starts, axis=0) / counts for each in (mpi, waiting)]
    ranks = range(len(account.ranks))
    sent = sum(
        sent_between(account.ranks[rank], edges - _offset_s(account, rank)) for rank in ranks
    )
    return Rows(names, end_s, joined[0], joined[1], has_recorded, sent / np.diff(edges))


def _name(account: Account, at: int, step: int) -> str:
    last = min(at + step, len(account.ranks)) - 1
    first_rank, last_rank = account.ranks[at].rank, account.ranks[last].rank
    return f"rank {first_rank}" if last == at else f"ranks {first_rank}–{last_rank}"


def _of_steps(account: Account, rank: int, edges: Numbers) -> Numbers:
    file = account.ranks[rank]
    if not file.timelines:
        return np.zeros(len(edges) - 1)
    return share_between(file, edges - _offset_s(account, rank))


def _offset_s(account: Account, rank: int) -> float:
    """Returns the moment at which a rank began its profile."""
    begins_s = account.profile.timeline.begins_s
    return float(begins_s[rank]) if len(begins_s) else 0.0


def _between(account: Account, rank: int, edges: Numbers) -> tuple[Numbers, Numbers]:
    """Returns the shares of recorded calls, and of waiting in them, between edges."""
    calls = account.profile.timeline.calls
    own = calls[calls["rank"] == rank]
    waiting = own[own["waiting_s"] > 0]
    return (
        covered(own["entered_s"], own["took_s"], edges),
        covered(waiting["entered_s"], waiting["waiting_s"], edges),
    )


def timeline(account: Account) -> Picture | None:
    """Draws the timeline. None: no rank has steps of time."""
    rows = rows_of(account)
    if rows is None:
        return None
    spans = phases(account)
    source = (
        "All parts are of recorded calls."
        if rows.is_recorded
        else "MPI is of 1000 steps of time, as only some calls were recorded; waiting is that of "
        "recorded calls."
    )
    about = f"Ranks down, time across; the height of a colour is its share of the time. {source}"
    if rows.most_sent:
        about += f" The last row has the bytes that all ranks send, at most {_rate(rows)}."
    return Picture(
        title="Timeline",
        about=about,
        svg="".join(_drawn(rows, spans)),
        heads=("phase", "from", "to", "share of MPI", "bytes sent", "named by its calls"),
        rows=tuple(_phase_row(number, phase) for number, phase in enumerate(spans, 1)),
        names=NAMES,
    )


def _rate(rows: Rows) -> str:
    return f"{memory(round(rows.most_sent))}/s"


def _phase_row(number: int, phase: Phase) -> tuple[str, ...]:
    ends = duration(phase.begin_s), duration(phase.end_s)
    return (str(number), *ends, percent(phase.share), memory(phase.sent_bytes), phase.name)


def _drawn(rows: Rows, spans: list[Phase]) -> Iterator[str]:
    count = len(rows.names) + bool(rows.most_sent)
    high = _TOP + count * (_ROW + _GAP) + 30
    inner = _WIDE - _LEFT - _RIGHT
    yield begin(_WIDE, high, "Timeline")
    for number, name in enumerate(NAMES):
        x = _LEFT + 180.0 * number
        yield f'<g class="legend c{number}" data-series="{number}">'
        yield box(x, 8, 12, 12, number)
        yield text(x + 18, 18, name, "ink") + "</g>"
    for phase in spans:
        x = _LEFT + inner * phase.begin_s / rows.end_s
        wide = inner * (phase.end_s - phase.begin_s) / rows.end_s
        label = _fitting(phase.name, wide)
        yield f"<g><title>{words(_phase_tip(phase))}</title>"
        yield stroke(x, 34, x, high - 26, "dim", "#555555")
        yield text(x + 4, 46, label, "ink", size=11) + "</g>"
    for place, name in enumerate(rows.names):
        y = _TOP + place * (_ROW + _GAP)
        yield text(_LEFT - 8, y + _ROW - 4, name, "dim", "end", 11)
        yield f'<g class="series c0" data-series="0">{box(_LEFT, y, inner, _ROW, 0)}</g>'
        for number, shares in ((1, rows.mpi[place]), (2, rows.waiting[place])):
            yield f'<g class="series c{number}" data-series="{number}">'
            yield f'<path class="band" fill="{colour(number)}" d="{_area(shares, y, inner)}"/></g>'
    if rows.most_sent:
        y = _TOP + len(rows.names) * (_ROW + _GAP)
        yield f'<g class="c{_SENT}"><title>bytes sent, at most {_rate(rows)}</title>'
        yield text(_LEFT - 8, y + _ROW - 4, "bytes sent", "dim", "end", 11)
        area = _area(rows.sent / rows.most_sent, y, inner)
        yield f'<path class="band" fill="{colour(_SENT)}" d="{area}"/></g>'
    for part in range(5):
        x = _LEFT + inner * part / 4
        anchor = "end" if part == 4 else "middle"
        yield text(x, high - 8, duration(rows.end_s * part / 4) if part else "0", "dim", anchor, 11)
    yield "</svg>\n"


def _phase_tip(phase: Phase) -> str:
    return (
        f"{duration(phase.begin_s)} to {duration(phase.end_s)}: {phase.name}, MPI "
        f"{percent(phase.share)}"
    )


def _fitting(label: str, wide: float) -> str:
    most = int(wide / 6.2)
    if len(label) <= most:
        return label
    return f"{label[: most - 1]}…" if most > 2 else ""


def _area(shares: Numbers, y: float, inner: float) -> str:
    """Returns the path of steps from the bottom of a row, without steps that are alike."""
    bottom = y + _ROW
    parts = [f"M{_LEFT} {bottom}"]
    levels = np.round(bottom - _ROW * shares, 1)
    changes = np.flatnonzero(np.diff(levels, prepend=np.nan) != 0)
    for at in changes:
        parts.append(f"H{_LEFT + inner * at / len(shares):.1f}V{levels[at]:.1f}")
    return "".join([*parts, f"H{_LEFT + inner:.1f}V{bottom}Z"])


def zoom_data(account: Account) -> str:
    """Returns what a page needs to zoom in to single calls, as gzip in base64; empty: no call was
    recorded."""
    rows, calls = rows_of(account), account.profile.timeline.calls
    if rows is None or not len(calls):
        return ""
    if len(calls) > MOST_DRAWN:
        calls = calls[np.sort(np.argsort(-calls["took_s"], kind="stable")[:MOST_DRAWN])]
    sites, site_of = np.unique(calls["site"], return_inverse=True)
    step = -(-len(account.ranks) // MOST_ROWS)
    data: dict[str, Any] = {
        "rows": rows.names,
        "end": rows.end_s,
        "recorded": rows.is_recorded,
        "mpi": np.round(rows.mpi, 3).tolist(),
        "waiting": np.round(rows.waiting, 3).tolist(),
        "names": [_site_name(account, int(site)) for site in sites],
        "row": (calls["rank"] // step).tolist(),
        "rank": [account.ranks[int(rank)].rank for rank in calls["rank"]],
        "site": site_of.tolist(),
        "at": np.round(calls["entered_s"], 9).tolist(),
        "took": [float(f"{each:.4g}") for each in calls["took_s"]],
        "wait": [float(f"{each:.4g}") for each in calls["waiting_s"]],
    }
    packed = gzip.compress(json.dumps(data, separators=(",", ":")).encode(), mtime=0)
    return base64.b64encode(packed).decode()


def _site_name(account: Account, site: int) -> str:
    spot = account.profile.spots[site]
    where = account.where(spot)
    return f"{spot.call} in {where}" if where else spot.call

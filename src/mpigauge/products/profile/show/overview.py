# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Draws what the first screen of a profile shows: efficiencies as a tree, call sites as bars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.draw.plot import Picture
from mpigauge.draw.styles import text, words
from mpigauge.model.units import duration, percent
from mpigauge.model.width import cut_apart
from mpigauge.products.profile.analyse.bound import WhatBounds
from mpigauge.products.profile.analyse.efficiencies import (
    LABELS,
    NAMES,
    EfficienciesOverLaunches,
    efficiencies_of,
)
from mpigauge.products.profile.show.marks import begin, stacked
from mpigauge.products.profile.show.sentences import at, ratio_words

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.analyse.entries import TimeWithInterval

MOST_SITES = 5
SITE_NAMES = ("moving", "waiting", "disturbance")
LONGEST_NAME = 36
_LEFT_OF_SITES, _WIDE = 230, 660
_PLACES = {
    "parallel": (210, 10),
    "load_balance": (60, 90),
    "communication": (360, 90),
    "serialisation": (260, 170),
    "transfer": (460, 170),
}
"""The corners of the boxes of the tree."""
_LINKS = (
    ("parallel", "load_balance"),
    ("parallel", "communication"),
    ("communication", "serialisation"),
    ("communication", "transfer"),
)
_BOX_WIDE, _BOX_HIGH, _TREE_WIDE, _TREE_HIGH = 180, 54, 660, 234


def tree(accounts: Sequence[Account]) -> Picture | None:
    """Draws POP's efficiencies as a tree, in which each box is the product of those below it. None:
    there is one rank, or cores were lost."""
    if len(accounts[0].ranks) < 2 or WhatBounds(accounts[0]).is_starved:
        return None
    of = EfficienciesOverLaunches([efficiencies_of(account) for account in accounts])
    ratios = {name: of.interval(name) for name in NAMES}
    if not math.isfinite(ratios["parallel"].value):
        return None
    about = "Each efficiency is the product of those below it; 100 % is ideal."
    if of.first.is_split:
        about += " Serialisation and transfer are estimates."
    else:
        left_out = percent(of.first.left_out)
        about += f" Calls that cannot be split take {left_out} of the time in MPI."
    return Picture(
        title="Efficiencies",
        about=about,
        svg="".join(_boxes(ratios)),
        heads=("efficiency", "value"),
        rows=tuple((LABELS[name], ratio_words(ratios[name]) or "unknown") for name in NAMES),
    )


def _boxes(ratios: dict[str, TimeWithInterval]) -> Iterator[str]:
    yield begin(_TREE_WIDE, _TREE_HIGH, "Efficiencies")
    for above, below in _LINKS:
        (x, y), (x2, y2) = _PLACES[above], _PLACES[below]
        ends = x + _BOX_WIDE / 2, y + _BOX_HIGH, x2 + _BOX_WIDE / 2, y2
        yield '<line class="dim" x1="{}" y1="{}" x2="{}" y2="{}" stroke="#555555"/>'.format(*ends)
    for name, (x, y) in _PLACES.items():
        ratio = ratios[name]
        label = words(f"{LABELS[name]}: {ratio_words(ratio) or 'unknown'}")
        yield f"<g><title>{label}</title>"
        yield (
            f'<rect class="paper" x="{x}" y="{y}" width="{_BOX_WIDE}" height="{_BOX_HIGH}" rx="6" '
            f'fill="#ffffff" stroke="#888888"/>'
        )
        yield text(x + 10, y + 18, LABELS[name], "ink", size=12)
        yield text(x + 10, y + 37, ratio_words(ratio) or "unknown", "ink", size=15)
        if math.isfinite(ratio.value):
            wide = (_BOX_WIDE - 20) * min(ratio.value, 1.0)
            yield (
                f'<rect class="grid" x="{x + 10}" y="{y + 43}" width="{_BOX_WIDE - 20}" '
                f'height="5" fill="#dddddd"/>'
            )
            yield (
                f'<g class="c0"><rect class="band" x="{x + 10}" y="{y + 43}" width="{wide:.1f}" '
                f'height="5" fill="#0072b2"/></g>'
            )
        yield "</g>"
    yield "</svg>\n"


def top_sites(account: Account) -> Picture | None:
    """Draws a bar for each of the call sites with most time. None: there is none."""
    sites = account.inside[:MOST_SITES]
    if not sites or not float(account.mpi_s.sum()) > 0:
        return None
    ranks = max(len(account.ranks), 1)
    split = {each.called.number: each for each in account.waited}
    shows_split = not WhatBounds(account).is_starved
    labels = cut_apart([at(each).removeprefix("MPI_") for each in sites], LONGEST_NAME)
    bars, rows = [], []
    for called, label in zip(sites, labels, strict=True):
        parts = [called.mean_s, 0.0, 0.0]
        of = split.get(called.number)
        if of and shows_split:
            waiting = min(of.waiting.value / ranks, called.mean_s)
            disturbed = min(of.disturbed_s / ranks, called.mean_s - waiting)
            parts = [called.mean_s - waiting - disturbed, waiting, disturbed]
        bars.append((label, parts))
        share = percent(called.total_s / float(account.mpi_s.sum()))
        rows.append((at(called), duration(called.mean_s), share))
    title = "Call sites with most time in MPI"
    return Picture(
        title=title,
        about="Bars are times of a rank, in the mean of ranks; what could not be split is moving.",
        svg="".join(stacked(title, SITE_NAMES, bars, _LEFT_OF_SITES, _WIDE, 1)),
        heads=("call site", "time", "% MPI"),
        rows=tuple(rows),
    )

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Extracts arrival patterns: the lateness of all ranks in some of the recorded collectives.

Patterns describe the program itself, whatever it waited for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.totals import RARE, Times
from mpigauge.products.profile.match.waiting import FLOOR_S, LONG, CallGroup, Parts, Split
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.layout import Counted
from mpigauge.products.profile.read.rank_file import RankFile
from mpigauge.runs.store.arrivals import ArrivalPattern

MOST_VECTORS = 256
"""The maximum number of vectors of a call site: enough for means within some per cent."""
LEAST_VECTORS = 2


def arrivals(
    files: Sequence[RankFile], numbers: Sequence[Sequence[int]], splits: Sequence[Split]
) -> tuple[ArrivalPattern, ...]:
    """Returns the arrival pattern of each group of calls at each call site of its first rank,
    longest first."""
    patterns = []
    for kind, parts in splits:
        for spot in np.unique(kind.spots[:, 0]):
            pattern = _pattern(files, numbers, kind, parts, int(spot))
            if pattern is not None:
                patterns.append(pattern)
    return tuple(sorted(patterns, key=lambda each: -each.seconds))


def _pattern(
    files: Sequence[RankFile],
    numbers: Sequence[Sequence[int]],
    kind: CallGroup,
    parts: Parts,
    spot: int,
) -> ArrivalPattern | None:
    """Returns the arrival pattern of a call site; None: too few calls for a distribution."""
    here = np.flatnonzero(kind.spots[:, 0] == spot)
    lateness = kind.entered[here] - kind.entered[here].min(axis=1, keepdims=True)
    usual = ~_is_disturbed(lateness, parts.usual_s)
    rows = _evenly(np.flatnonzero(usual), MOST_VECTORS)
    if len(rows) < LEAST_VECTORS:
        return None
    file = files[kind.ranks[0]]
    comm = file.comms[kind.comm]
    sizes = _sizes(file, numbers[kind.ranks[0]], kind, spot)
    share = len(here) / len(kind.roots)
    return ArrivalPattern(
        call=kind.call,
        message_bytes=sizes[0],
        least_bytes=sizes[1],
        most_bytes=sizes[2],
        members=comm.members,
        communicator=comm.name,
        region="",
        function="",
        source_file="",
        line=0,
        spot=spot,
        calls=kind.calls * share,
        seconds=float(kind.seconds.mean()) * share,
        left_out=int((~usual).sum()),
        lateness_s=lateness[rows].astype(np.float32),
        roots=kind.roots[here][rows].astype(np.int32),
    )


def _is_disturbed(lateness: Times, usual_s: float) -> npt.NDArray[np.bool_]:
    """Returns for each call whether a rank arrived far later than usual."""
    most = LONG * np.quantile(lateness, 1 - RARE, axis=0) + max(LONG * usual_s, FLOOR_S)
    return np.asarray((lateness > most).any(axis=1))


def _evenly(rows: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Returns at most `most` rows: a random one of each stretch of the run, so that no step of the
    program is preferred."""
    if len(rows) <= most:
        return rows
    rng = np.random.default_rng(0)
    return np.array([rng.choice(part) for part in np.array_split(rows, most)])


def _sizes(
    file: RankFile, numbers: Sequence[int], kind: CallGroup, spot: int
) -> tuple[int, int, int]:
    """Returns the mean, least and largest message size of a call site, in bytes."""
    cells = file.cells
    sites = np.flatnonzero(np.asarray(numbers) == spot)
    of = np.isin(cells["site"], sites) & (cells["comm"] == kind.comm)
    of &= cells["way"] == Counted.NONE
    if kind.bin != layout.OTHER_SIZES:
        of &= cells["bin"] == kind.bin
    counted = cells[of]
    count = int(counted["count"].sum())
    if not count:
        return 0, 0, 0
    mean = round(int(counted["amount"].sum()) / count)
    return mean, int(counted["least"].min()), int(counted["most"].max())

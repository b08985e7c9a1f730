# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Extracts arrival patterns: the lateness of all ranks in some of the recorded collectives.

Patterns describe the program itself, whatever it waited for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.kept import KeptCalls
from mpigauge.products.profile.match.totals import RARE, Times
from mpigauge.products.profile.match.waiting import FLOOR_S, LONG, Split
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.layout import Counted
from mpigauge.products.profile.read.rank_file import Instances, RankFile
from mpigauge.runs.store.arrivals import ArrivalPattern

MOST_VECTORS = 256
"""The maximum number of vectors of a call site: enough for means within some per cent."""
LEAST_VECTORS = 2
_AT_A_TIME = 64
"""The number of ranks whose lateness is examined together."""


def arrivals(kept: KeptCalls, split: Split, entered: Times) -> Iterator[ArrivalPattern]:
    """Yields the arrival pattern of a group of calls at each call site of its first rank.
    `entered`: the entries by rank and call."""
    first = split.group.order[0]
    spots = np.asarray(kept.numbers[first])[split.group.read(first)["site"]]
    for spot in np.unique(spots):
        pattern = _pattern(kept, split, entered, np.flatnonzero(spots == spot), int(spot))
        if pattern is not None:
            yield pattern


def _pattern(
    kept: KeptCalls, split: Split, entered: Times, here: npt.NDArray[np.int64], spot: int
) -> ArrivalPattern | None:
    """Returns the arrival pattern of a call site; None: too few calls for a distribution. `here`:
    its calls."""
    group = split.group
    earliest = entered.min(axis=0)[here]
    usual = ~_is_disturbed(entered, here, earliest, split.usual_s)
    rows = _evenly(np.flatnonzero(usual), MOST_VECTORS)
    if len(rows) < LEAST_VECTORS:
        return None
    first = group.order[0]
    file = kept.files[first]
    comm = file.comms[group.first.comm]
    sizes = _sizes(file, np.flatnonzero(np.asarray(kept.numbers[first]) == spot), group.first)
    share = len(here) / len(group.indices)
    seconds = np.array([group.rows[rank].seconds for rank in group.order])
    return ArrivalPattern(
        call=group.first.call,
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
        calls=group.first.count * share,
        seconds=float(seconds.mean()) * share,
        left_out=int((~usual).sum()),
        lateness_s=np.ascontiguousarray((entered[:, here[rows]] - earliest[rows]).T, np.float32),
        roots=split.starts.roots[here][rows].astype(np.int32),
    )


def _is_disturbed(
    entered: Times, here: npt.NDArray[np.int64], earliest: Times, usual_s: float
) -> npt.NDArray[np.bool_]:
    """Returns for each of these calls whether a rank arrived far later than usual."""
    is_disturbed = np.zeros(len(here), dtype=bool)
    for start in range(0, len(entered), _AT_A_TIME):
        lateness = entered[start : start + _AT_A_TIME, here] - earliest
        most = LONG * np.quantile(lateness, 1 - RARE, axis=1) + max(LONG * usual_s, FLOOR_S)
        is_disturbed |= (lateness > most[:, None]).any(axis=0)
    return is_disturbed


def _evenly(rows: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    """Returns at most `most` rows: a random one of each stretch of the run, so that no step of the
    program is preferred."""
    if len(rows) <= most:
        return rows
    rng = np.random.default_rng(0)
    return np.array([rng.choice(part) for part in np.array_split(rows, most)])


def _sizes(file: RankFile, sites: npt.NDArray[np.int64], calls: Instances) -> tuple[int, int, int]:
    """Returns the mean, least and largest message size of a call site, in bytes."""
    cells = file.cells
    of = np.isin(cells["site"], sites) & (cells["comm"] == calls.comm)
    of &= cells["way"] == Counted.NONE
    if calls.bin != layout.OTHER_SIZES:
        of &= cells["bin"] == calls.bin
    counted = cells[of]
    count = int(counted["count"].sum())
    if not count:
        return 0, 0, 0
    mean = round(int(counted["amount"].sum()) / count)
    return mean, int(counted["least"].min()), int(counted["most"].max())

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A curve in pieces: t = α + β·n from break to break, with as many breaks as the data carry.

Distances are relative, (t - fitted) / t, which is the distance in log t for what is near: it is a
fit in log-log of sizes and times, in which what is known better counts more. The pieces are lines
in t and n, not straight in log-log: a straight one would need a break at n½ = α/β, where the time
bends and nothing happens.

The number of pieces is the one of the least BIC (G. Schwarz, Annals of Statistics 6 (1978) 461),

    N ln(1 + S / N) + k ln N,   S = Σ (r / e)²,   k = 4 · pieces - 2

with the relative residuals r and what each time is known to, e: so nothing is won by following a
curve closer than its errors. k counts α and β of each piece, and each break twice, for its place is
searched for (as in N. Zhang, D. Siegmund, Biometrics 63 (2007) 22). The best pieces of each number
come from dynamic programming (R. Bellman, Communications of the ACM 4 (1961) 284).

A break is then claimed only where the line of the smaller sizes, drawn on, misses one of the next
sizes by DEVIATIONS times what its scatter and their errors explain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.stats.fit import fit, misfit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.row import Row
    from mpigauge.stats.fit import Fit

LEAST_IN_PIECE = 3
MOST_PIECES = 6
LEAST_ERROR = 0.02
"""No line describes a real curve better than this; also taken where no error is known."""
DEVIATIONS = 3.0
LEAST_MISS = 0.1
"""A line that goes on within 10 % has no break that anybody would look for."""
_NORMAL = 1.96
_LOOKED_AT = 3

Bounds = tuple[int, ...]
"""Where pieces end: places in the points, the last one their number."""


class Known(NamedTuple):
    message_bytes: int
    time_s: float
    error: float
    """Its relative standard error."""


@dataclass(frozen=True)
class Break:
    """Between two sizes that were measured, one behind the other."""

    before_bytes: int
    after_bytes: int
    step: float
    """The time just behind it by what the smaller sizes let expect: 2 is twice as long."""
    slope: float
    """The larger sizes' time per byte by that of the smaller ones; NaN where these have none."""


@dataclass(frozen=True)
class Pieces:
    lines: tuple[Fit, ...]
    """One for each piece, sizes upwards."""
    breaks: tuple[Break, ...]

    @property
    def fitted(self) -> dict[int, float]:
        """The fitted time of each size, in seconds."""
        return {point.message_bytes: point.fitted_s for line in self.lines for point in line.points}


def known_points(rows: Sequence[Row]) -> list[Known]:
    """The printed times of rows of one curve, with what they are known to."""
    return [
        Known(row.message_bytes, row.latency.value, _standard_error(row.relative_error))
        for row in rows
        if row.message_bytes >= 0 and row.latency.value > 0
    ]


def in_pieces(points: Sequence[Known]) -> Pieces | None:
    """The pieces of this curve; None for fewer than three sizes."""
    ordered = sorted(points)
    if len({point.message_bytes for point in ordered}) < LEAST_IN_PIECE:
        return None
    bounds = _carried(ordered, _best(ordered))
    lines = [_line(ordered[start:end]) for start, end in pairwise((0, *bounds))]
    return Pieces(tuple(lines), tuple(_break(a, b) for a, b in pairwise(lines)))


def drawn_on(line: Fit, message_bytes: int) -> float:
    """What a line lets expect of a size beyond its own, in seconds: never less than at its last,
    for a few noisy sizes may seem to get shorter."""
    return max(line.at(message_bytes), line.points[-1].observed_s)


def _standard_error(relative: float) -> float:
    return max(relative / _NORMAL, LEAST_ERROR) if math.isfinite(relative) else LEAST_ERROR


def _line(points: Sequence[Known]) -> Fit:
    found = fit(
        [point[:2] for point in points],
        errors={point.message_bytes: point.error for point in points},
    )
    assert found is not None  # a piece has three sizes
    return found


def _best(points: Sequence[Known]) -> Bounds:
    """Where the pieces end whose number has the least BIC."""
    count = len(points)
    known = {point.message_bytes: point.error for point in points}
    squares = {
        (start, end): misfit([point[:2] for point in points[start:end]], known)
        for start in range(count)
        for end in range(start + LEAST_IN_PIECE, count + 1)
    }
    ways: dict[int, tuple[float, Bounds]] = {
        end: (squares[0, end], (end,)) for end in range(LEAST_IN_PIECE, count + 1)
    }
    found = [(_bic(ways[count][0], count, 1), ways[count][1])]
    for pieces in range(2, min(MOST_PIECES, count // LEAST_IN_PIECE) + 1):
        ways = _one_more(ways, squares, count)
        found.append((_bic(ways[count][0], count, pieces), ways[count][1]))
    return min(found)[1]


def _one_more(
    ways: dict[int, tuple[float, Bounds]], squares: dict[tuple[int, int], float], count: int
) -> dict[int, tuple[float, Bounds]]:
    """The best ways to reach each end with a piece more than these have."""
    longer: dict[int, tuple[float, Bounds]] = {}
    for start, (so_far, bounds) in ways.items():
        for end in range(start + LEAST_IN_PIECE, count + 1):
            way = so_far + squares[start, end], (*bounds, end)
            longer[end] = min(way, longer.get(end, way))
    return longer


def _bic(squares: float, count: int, pieces: int) -> float:
    return count * math.log(1 + squares / count) + (4 * pieces - 2) * math.log(count)


def _carried(points: Sequence[Known], bounds: Bounds) -> Bounds:
    """Without the breaks that the errors do not carry, the weakest taken out first."""
    while len(bounds) > 1:
        strengths = [
            (_strength(points[start:middle], points[middle:end]), middle)
            for start, middle, end in zip((0, *bounds), bounds, bounds[1:], strict=False)
        ]
        weakest, place = min(strengths)
        if weakest >= DEVIATIONS:
            break
        bounds = tuple(bound for bound in bounds if bound != place)
    return bounds


def _strength(smaller: Sequence[Known], larger: Sequence[Known]) -> float:
    """By how many deviations the line of the smaller ones, drawn on, misses the next sizes."""
    line = _line(smaller)
    freedom = max(len(smaller) - 2, 1)
    scatter = sum(point.relative**2 for point in line.points) / freedom
    return max(_miss(line, scatter, point) for point in larger[:_LOOKED_AT])


def _miss(line: Fit, scatter: float, point: Known) -> float:
    off = abs(drawn_on(line, point.message_bytes) / point.time_s - 1)
    return off / math.hypot(math.sqrt(scatter), point.error) if off > LEAST_MISS else 0.0


def _break(smaller: Fit, larger: Fit) -> Break:
    first = larger.points[0]
    slope = smaller.beta_s_per_byte.value
    return Break(
        before_bytes=smaller.last_bytes,
        after_bytes=larger.first_bytes,
        step=first.observed_s / drawn_on(smaller, first.message_bytes),
        slope=larger.beta_s_per_byte.value / slope if slope > 0 else math.nan,
    )

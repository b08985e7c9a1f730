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

from mpigauge.result.stats.fit import fit, misfits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mpigauge.model.row import Row
    from mpigauge.result.stats.fit import Fit

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
"""The ends of pieces: indices into the points, the last one their number."""


class KnownPoint(NamedTuple):
    message_bytes: int
    time_s: float
    error: float
    """Its relative standard error."""


@dataclass(frozen=True)
class Break:
    """A break between two measured sizes, one behind the other."""

    before_bytes: int
    after_bytes: int
    step: float
    """The time just behind it over what the smaller sizes suggest: 2 is twice as long."""
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
        times: dict[int, float] = {}
        for line in self.lines:
            for point in line.points:
                times[point.message_bytes] = point.fitted_s
        return times


def known_points(rows: Sequence[Row]) -> list[KnownPoint]:
    """The printed times of rows of one curve, with what they are known to."""
    points = []
    for row in rows:
        if row.message_bytes >= 0 and row.latency.value > 0:
            error = _standard_error(row.relative_error)
            points.append(KnownPoint(row.message_bytes, row.latency.value, error))
    return points


def in_pieces(points: Sequence[KnownPoint]) -> Pieces | None:
    """The pieces of this curve; None for fewer than three sizes."""
    ordered = sorted(points)
    if len({point.message_bytes for point in ordered}) < LEAST_IN_PIECE:
        return None
    lines = []
    for start, end in pairwise((0, *_carried(ordered, _best(ordered)))):
        lines.append(_line(ordered[start:end]))
    breaks = [_break(smaller, larger) for smaller, larger in pairwise(lines)]
    return Pieces(tuple(lines), tuple(breaks))


def drawn_on(line: Fit, message_bytes: int) -> float:
    """The time that a line suggests for a size beyond its own, in seconds: never less than at its
    last, for a few noisy sizes may seem to get shorter."""
    return max(line.at(message_bytes), line.points[-1].observed_s)


def _standard_error(relative: float) -> float:
    if not math.isfinite(relative):
        return LEAST_ERROR
    return max(relative / _NORMAL, LEAST_ERROR)


def _line(points: Sequence[KnownPoint]) -> Fit:
    pairs, errors = [], {}
    for point in points:
        pairs.append((point.message_bytes, point.time_s))
        errors[point.message_bytes] = point.error
    line = fit(pairs, errors=errors)
    assert line is not None  # a piece has three sizes
    return line


def _best(points: Sequence[KnownPoint]) -> Bounds:
    """Returns the ends of the best pieces, in the number that has the least BIC."""
    import numpy as np

    count = len(points)
    squares = _squares(points)
    costs, steps = squares[0], []
    candidates: list[tuple[float, Bounds]] = [(_bic(float(costs[count]), count, 1), (count,))]
    for pieces in range(2, min(MOST_PIECES, count // LEAST_IN_PIECE) + 1):
        # A piece more: from the best way to each of its starts.
        ways = costs[:, None] + squares
        steps.append(np.argmin(ways, axis=0))
        costs = ways.min(axis=0)
        candidates.append((_bic(float(costs[count]), count, pieces), _back(steps, count)))
    return min(candidates)[1]


def _squares(points: Sequence[KnownPoint]) -> NDArray[np.float64]:
    """The misfit of the piece from each start to each end (N + 1, N + 1); infinite where there is
    none."""
    import numpy as np

    count = len(points)
    sizes, times, errors = np.array(points, dtype=float).T
    starts, ends = np.triu_indices(count + 1, LEAST_IN_PIECE)
    squares = np.full((count + 1, count + 1), np.inf)
    squares[starts, ends] = misfits(sizes, times, errors, starts, ends)
    return squares


def _back(steps: Sequence[NDArray[np.intp]], count: int) -> Bounds:
    """Returns the ends of pieces; `steps`: the best start for each end, from the second on."""
    bounds = [count]
    for starts in reversed(steps):
        bounds.append(int(starts[bounds[-1]]))
    return tuple(reversed(bounds))


def _bic(squares: float, count: int, pieces: int) -> float:
    return count * math.log(1 + squares / count) + (4 * pieces - 2) * math.log(count)


def _carried(points: Sequence[KnownPoint], bounds: Bounds) -> Bounds:
    """The bounds without the breaks that the errors do not carry, the weakest removed first."""
    left = list(bounds)
    while len(left) > 1:
        strengths = []
        for start, middle, end in zip((0, *left), left, left[1:], strict=False):
            strengths.append((_strength(points[start:middle], points[middle:end]), middle))
        weakest, place = min(strengths)
        if weakest >= DEVIATIONS:
            break
        left.remove(place)
    return tuple(left)


def _strength(smaller: Sequence[KnownPoint], larger: Sequence[KnownPoint]) -> float:
    """Returns the miss of the smaller sizes' line, extrapolated to the next, in deviations."""
    line = _line(smaller)
    freedom = max(len(smaller) - 2, 1)
    scatter = sum(point.relative**2 for point in line.points) / freedom
    return max(_miss(line, smaller, scatter, point) for point in larger[:_LOOKED_AT])


def _miss(line: Fit, smaller: Sequence[KnownPoint], scatter: float, point: KnownPoint) -> float:
    expected = drawn_on(line, point.message_bytes)
    off = abs(expected / point.time_s - 1)
    if off <= LEAST_MISS:
        return 0.0
    unsure = _error_drawn_on(smaller, point.message_bytes) / point.time_s
    return off / math.hypot(math.sqrt(scatter), point.error, unsure)


def _error_drawn_on(points: Sequence[KnownPoint], message_bytes: int) -> float:
    """Returns the standard error, in seconds, of the weighted line through these points at a size
    beyond them, from the errors of their times: few noisy short messages hardly have a slope."""
    weights = [(point.time_s * point.error) ** -2 for point in points]
    whole = math.fsum(weights)
    weighted, squares = [], []
    for weight, point in zip(weights, points, strict=True):
        weighted.append(weight * point.message_bytes)
    middle = math.fsum(weighted) / whole
    for weight, point in zip(weights, points, strict=True):
        squares.append(weight * (point.message_bytes - middle) ** 2)
    return math.sqrt(1 / whole + (message_bytes - middle) ** 2 / math.fsum(squares))


def _break(smaller: Fit, larger: Fit) -> Break:
    first = larger.points[0]
    slope = smaller.beta_s_per_byte.value
    return Break(
        before_bytes=smaller.last_bytes,
        after_bytes=larger.first_bytes,
        step=first.observed_s / drawn_on(smaller, first.message_bytes),
        slope=larger.beta_s_per_byte.value / slope if slope > 0 else math.nan,
    )

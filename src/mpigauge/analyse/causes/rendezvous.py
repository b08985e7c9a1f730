# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A step of the time where messages stop to be sent ahead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.analyse.causes.collapse import LEAST
from mpigauge.analyse.falls import falls
from mpigauge.analyse.finding import Finding
from mpigauge.analyse.models.breaks import Reason, reasons
from mpigauge.analyse.needs import sizes
from mpigauge.analyse.registry import cause
from mpigauge.analyse.seen import gap
from mpigauge.analyse.words import factor, listed, settings, time
from mpigauge.model.units import byte_count
from mpigauge.stats.pieces import drawn_on

if TYPE_CHECKING:
    from mpigauge.analyse.seen import Curve, Seen
    from mpigauge.stats.fit import Fit
    from mpigauge.stats.pieces import Break

LEAST_STEP = 1.25
_Step = tuple["Curve", "Break", "Reason"]


@cause("rendezvous", "a step of the time where messages stop to be sent ahead", sizes)
def look(seen: Seen) -> Iterator[Finding]:
    """Curves that step between the same two sizes are told together."""
    steps: dict[tuple[int, int], list[_Step]] = defaultdict(list)
    for step in _steps(seen):
        steps[step[1].before_bytes, step[1].after_bytes].append(step)
    for sizes_of, found in sorted(steps.items()):
        yield _finding(seen, sizes_of, found)


def _steps(seen: Seen) -> Iterator[_Step]:
    """Where the likeliest is a limit of eager messages; where bandwidth collapses, that is said."""
    told = {(id(fall.curve), fall.before.message_bytes) for fall in falls(seen, LEAST)}
    for curve in seen.curves:
        for at in curve.pieces.breaks if curve.pieces else ():
            first = next(iter(reasons(seen, curve, at)), None)
            new = (id(curve), at.before_bytes) not in told
            if new and at.step >= LEAST_STEP and first and first.kind == "eager":
                yield curve, at, first


def _finding(seen: Seen, sizes_of: tuple[int, int], found: list[_Step]) -> Finding:
    before, after = sizes_of
    worst, at, _ = max(found, key=lambda step: step[1].step)
    known = list(dict.fromkeys(reason.words for _, _, reason in found if reason.known))
    knobs = [name for _, _, reason in found for name in reason.knobs]
    return Finding(
        what=f"{listed(curve.label for curve, _, _ in found)}: {gap(before, after)} the time jumps "
        f"to {factor(at.step)} what smaller sizes let expect",
        likely="from eager to rendezvous: longer messages wait until the receiver has answered"
        + ("" if known else " (nothing in the run proves it: no limit is known to lie there)"),
        evidence=(
            (
                f"{worst.label}: {byte_count(before)} takes {time(worst.row(before))}, "
                f"{byte_count(after)} {time(worst.row(after))}"
            ),
            *known,
        ),
        attempts=(
            *([settings(knobs)] if knobs else ["raise the MPI's limit for eager messages"]),
            (
                "a larger limit helps messages that are expected, and takes memory for those "
                "that are not: measure your own sizes"
            ),
        ),
        cost=seen.cost(share for curve, step, _ in found for share in _lost(curve, step)),
    )


def _lost(curve: Curve, at: Break) -> Iterator[float]:
    """Behind the step, what lies above the line of the smaller sizes, until it no longer does."""
    line = next(each for each in _lines(curve) if each.last_bytes == at.before_bytes)
    for row in curve.behind(at.before_bytes):
        share = 1 - drawn_on(line, row.message_bytes) / row.latency.value
        if share <= 0:
            return
        yield share


def _lines(curve: Curve) -> tuple[Fit, ...]:
    return curve.pieces.lines if curve.pieces else ()

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The limits of the node beside what its messages take: words, lines in plots, and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from mpigauge.draw.axes import BANDWIDTH, TIME, bytes_per_s, flops, seconds
from mpigauge.draw.plot import Level
from mpigauge.model.fields import Field, with_ends
from mpigauge.model.units import many, plus_minus
from mpigauge.result.node.against import FLOOR

if TYPE_CHECKING:
    from mpigauge.draw.axes import Axis
    from mpigauge.model.row import Estimate, Row
    from mpigauge.result.node.against import Against, Limits
    from mpigauge.result.node.hardware import Hardware


def lines(limits: Limits) -> Iterator[str]:
    """Limits for people: whose they are, and how far the run's numbers are from them."""
    yield f"limits of the node  ({limits.whose})"
    for what, words in entries(limits):
        yield f"  {what:<18}  {words}".rstrip()


def entries(limits: Limits) -> Iterator[tuple[str, str]]:
    """Each number with its ratio to its limit; limits without such a number; the node."""
    for each in limits.against:
        unit = seconds if each.limit == FLOOR else bytes_per_s
        limit = f"{each.limit} ({unit(each.value.value)})"
        error = plus_minus(each.ratio.relative_error)
        yield each.what, f"{each.ratio.value:.3g} × {limit}, {error}"
    if limits.elsewhere:
        for axis in (TIME, BANDWIDTH):
            for level in _levels(limits.hardware, axis):
                yield level.label, ""
    node = ", ".join(_node(limits.hardware))
    if node:
        yield "the node", node


def _node(hardware: Hardware) -> Iterator[str]:
    if (row := hardware.triad) and row.bandwidth:
        yield f"Triad {bytes_per_s(row.bandwidth.value)} on {many(row.ranks, 'rank')}"
    if (row := hardware.peak) and row.rate:
        name = row.cell.benchmark.removeprefix("Peak_")
        yield f"{flops(row.rate.value)} ({name}) on {many(row.ranks, 'rank')}"


def levels(limits: Limits | None, axis: Axis) -> tuple[Level, ...]:
    """Lines to see curves of messages against, where these are between the same cores."""
    if limits is None or not limits.alike:
        return ()
    return tuple(_levels(limits.hardware, axis))


def _levels(of: Hardware, axis: Axis) -> Iterator[Level]:
    candidates: list[tuple[str, Estimate | None]] = []
    if axis is TIME:
        candidates = [("mailbox floor", of.mailbox_s)]
    elif axis is BANDWIDTH:
        candidates = [("one copy in memory", of.one_copy), ("two copies", of.two_copies)]
    for name, value in candidates:
        if value:
            yield Level(value.value, f"{name} {axis.words(value.value)}")


def numbers(limits: Limits | None) -> dict[str, Any] | None:
    """Limits for programs, in SI units; None: they are not known."""
    if limits is None:
        return None
    of = limits.hardware
    against = []
    for each in limits.against:
        record = {"what": each.what, "limit": each.limit, "ratio": each.ratio._asdict()}
        against.append(record)
    return {
        "run": of.run,
        "created": of.created,
        "age_s": limits.age_s,
        "host": of.host,
        "cpus": [sorted(pus) for pus in of.pair],
        "same_cpus": not limits.elsewhere,
        "line_s": _ends(of.line_s),
        "mailbox_s": _ends(of.mailbox_s),
        "one_copy_bytes_per_s": _ends(of.one_copy),
        "two_copies_bytes_per_s": _ends(of.two_copies),
        "triad_bytes_per_s": _ends(of.triad.bandwidth) if of.triad else None,
        "peak_flop_per_s": _ends(of.peak.rate) if of.peak else None,
        "against": against,
    }


def _ends(value: Estimate | None) -> dict[str, Any] | None:
    if value:
        return value._asdict()
    return None


def limit_fields(limits: Limits | None) -> tuple[Field, ...]:
    """Columns of rows, for programs; they are there, if empty, where no limits are known."""
    times = limits.times if limits else {}

    def field_of(of: Callable[[Against], Any]) -> Callable[[Row], Any]:
        def value(row: Row) -> Any:
            against = times.get(row.key)
            if against:
                return of(against)
            return None

        return value

    about = "What hardware the message is held against: the mailbox floor, or one copy."
    return (
        Field("limit", "", about, field_of(lambda each: each.limit)),
        *with_ends(
            ("limit", "s"), "s", "The time that it takes.", field_of(lambda each: each.value)
        ),
        *with_ends(
            ("limit", "ratio"), "", "latency_s / limit_s.", field_of(lambda each: each.ratio)
        ),
    )

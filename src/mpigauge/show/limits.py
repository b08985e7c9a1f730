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
    from mpigauge.model.row import Row
    from mpigauge.result.node.against import Against, Limits
    from mpigauge.result.node.hardware import Hardware


def lines(found: Limits) -> Iterator[str]:
    """For people: whose limits these are, and how far the run's numbers are from them."""
    yield f"limits of the node  ({found.whose})"
    yield from (f"  {what:<18}  {words}".rstrip() for what, words in entries(found))


def entries(found: Limits) -> Iterator[tuple[str, str]]:
    """What stands against its limit, and how; limits that nothing stands against; the node."""
    for each in found.against:
        unit = seconds if each.limit == FLOOR else bytes_per_s
        limit = f"{each.limit} ({unit(each.value.value)})"
        error = plus_minus(each.ratio.relative_error)
        yield each.what, f"{each.ratio.value:.3g} × {limit}, {error}"
    if found.elsewhere:
        known = (*_levels(found.hardware, TIME), *_levels(found.hardware, BANDWIDTH))
        yield from ((level.label, "") for level in known)
    if node := ", ".join(_node(found.hardware)):
        yield "the node", node


def _node(hardware: Hardware) -> Iterator[str]:
    if (row := hardware.triad) and row.bandwidth:
        yield f"Triad {bytes_per_s(row.bandwidth.value)} on {many(row.ranks, 'rank')}"
    if (row := hardware.peak) and row.rate:
        name = row.cell.benchmark.removeprefix("Peak_")
        yield f"{flops(row.rate.value)} ({name}) on {many(row.ranks, 'rank')}"


def levels(found: Limits | None, axis: Axis) -> tuple[Level, ...]:
    """Lines to see curves of messages against, where these are between the same cores."""
    return _levels(found.hardware, axis) if found and found.alike else ()


def _levels(of: Hardware, axis: Axis) -> tuple[Level, ...]:
    known = (
        [("mailbox floor", of.mailbox_s)]
        if axis is TIME
        else [("one copy in memory", of.one_copy), ("two copies", of.two_copies)]
        if axis is BANDWIDTH
        else []
    )
    return tuple(
        Level(value.value, f"{name} {axis.words(value.value)}") for name, value in known if value
    )


def numbers(found: Limits) -> dict[str, Any]:
    """For programs, in SI units."""
    of = found.hardware
    known = {
        "line_s": of.line_s,
        "mailbox_s": of.mailbox_s,
        "one_copy_bytes_per_s": of.one_copy,
        "two_copies_bytes_per_s": of.two_copies,
        "triad_bytes_per_s": of.triad.bandwidth if of.triad else None,
        "peak_flop_per_s": of.peak.rate if of.peak else None,
    }
    return {
        "run": of.run,
        "created": of.created,
        "age_s": found.age_s,
        "host": of.host,
        "cpus": [sorted(pus) for pus in of.pair],
        "same_cpus": not found.elsewhere,
        **{name: value._asdict() if value else None for name, value in known.items()},
        "against": [
            {"what": each.what, "limit": each.limit, "ratio": each.ratio._asdict()}
            for each in found.against
        ],
    }


def limit_fields(found: Limits | None) -> tuple[Field, ...]:
    """Columns of rows, for programs; they are there, if empty, where no limits are known."""
    times = found.times if found else {}

    def known(of: Callable[[Against], Any]) -> Callable[[Row], Any]:
        return lambda row: of(times[row.key]) if row.key in times else None

    about = "What hardware the message is held against: the mailbox floor, or one copy."
    return (
        Field("limit", "", about, known(lambda each: each.limit)),
        *with_ends(("limit", "s"), "s", "The time that it takes.", known(lambda each: each.value)),
        *with_ends(("limit", "ratio"), "", "latency_s / limit_s.", known(lambda each: each.ratio)),
    )

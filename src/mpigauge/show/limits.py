# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The limits of the node beside what its messages take: words, lines in plots, and numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.draw.axes import BANDWIDTH, TIME, bytes_per_s, seconds
from mpigauge.draw.plot import Level
from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.fields import Field, with_ends
from mpigauge.model.units import byte_count, many, plus_minus
from mpigauge.result.node.hardware import by
from mpigauge.result.pairs import LARGE
from mpigauge.result.stats.headline import ONE_WAY
from mpigauge.site.topology.words import as_list

if TYPE_CHECKING:
    from mpigauge.draw.axes import Axis
    from mpigauge.model.record import Key
    from mpigauge.model.row import Estimate, Row
    from mpigauge.result.node.hardware import Hardware
    from mpigauge.result.seen import Seen
    from mpigauge.result.stats.headline import Headline

FLOOR = "the mailbox floor"
_TIMES = ((86400.0, "days"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
_RATES = ((1e12, "TFLOP/s"), (1e9, "GFLOP/s"))


class Against(NamedTuple):
    """A number of messages by a limit."""

    what: str
    limit: str
    value: Estimate
    ratio: Estimate


@dataclass(frozen=True)
class Limits:
    """Of the node that a run was made on."""

    hardware: Hardware
    age_s: float | None
    """How long before the run they were measured; negative: after it. None: it is not known."""
    apart: bool
    """They are of another run."""
    alike: bool
    """All messages of the run between two ranks went between the same two cores."""
    elsewhere: bool
    """Those of the headline did not, so that nothing can be compared."""
    against: tuple[Against, ...] = ()
    """Of the headline."""
    times: Mapping[Key, Against] = field(default_factory=dict, hash=False)
    """Of each message between these two cores, one way: in seconds, by the key of its row."""

    @property
    def whose(self) -> str:
        """The run that they are from, how old it is, and between which cores."""
        known = [self.hardware.run, _age(self.age_s)] if self.apart else ["this run"]
        if self.hardware.pair:
            pus = " and ".join(as_list(pair) for pair in self.hardware.pair)
            other = ": not those of these messages" if self.elsewhere else ""
            known.append(f"cores {pus}{other}")
        return ", ".join(filter(None, known))


def limits(hardware: Hardware, seen: Seen, head: Headline | None) -> Limits | None:
    """None: the run has no messages between two ranks."""
    pairs = [row for row in seen.rows if row.ranks == 2 and row.cell.suite != NODE_SUITE]
    if not pairs:
        return None
    created = str(seen.run.header.get("created", ""))
    after = hardware.seconds_after(created)
    rows = [row for row in (head.zero, head.peak) if row] if head else []
    fits, alike = (all(hardware.concerns(seen.ranks_of(row)) for row in of) for of in (rows, pairs))
    found = tuple(_against(hardware, head)) if head and fits else ()
    apart = hardware.run != seen.run.path.name
    age = None if after is None else -after
    near = (row for row in pairs if row.benchmark in ONE_WAY)
    times = {
        row.key: _least(hardware, row) for row in near if hardware.concerns(seen.ranks_of(row))
    }
    known = {key: least for key, least in times.items() if least}
    return Limits(hardware, age, apart, alike, not fits, found, known)


def _least(hardware: Hardware, row: Row) -> Against | None:
    """The time that the hardware needs for such a message: of two lines where it is small, else of
    one copy. None of a large one of fresh data: writing these is in the time of the copies, but not
    in that of the message."""
    if row.message_bytes < LARGE:
        name, least = FLOOR, hardware.mailbox_s
    else:
        name, copies = next(hardware.copies_of(row), ("", None))
        least = copies.under(row.message_bytes) if copies and row.cell.data != "fresh" else None
    what = byte_count(row.message_bytes)
    return Against(what, name, least, by(row.latency, least)) if least else None


def _against(hardware: Hardware, head: Headline) -> Iterator[Against]:
    floor = hardware.mailbox_s
    if head.zero and floor:
        what = f"latency, {byte_count(head.zero.message_bytes)}"
        yield Against(what, FLOOR, floor, by(head.zero.latency, floor))
    if head.peak and head.peak_bandwidth and head.peak.message_bytes >= LARGE:
        what = f"bandwidth, {byte_count(head.peak.message_bytes)}"
        for name, copies in hardware.copies_of(head.peak):
            yield Against(what, name, copies, by(head.peak_bandwidth, copies))


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
        factor, unit = _RATES[row.rate.value < _RATES[0][0]]
        yield f"{row.rate.value / factor:.3g} {unit} ({name}) on {many(row.ranks, 'rank')}"


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


def _age(seconds_before: float | None) -> str:
    if seconds_before is None:
        return ""
    size = abs(seconds_before)
    factor, unit = next((pair for pair in _TIMES if size >= 2 * pair[0]), _TIMES[-1])
    return f"{size / factor:.0f} {unit} {'before' if seconds_before >= 0 else 'after'}"

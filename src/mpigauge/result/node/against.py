# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The messages of a run relative to the limits of their node's hardware."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.cpu_lists import as_list
from mpigauge.model.units import byte_count
from mpigauge.result.node.hardware import by
from mpigauge.result.pairs import LARGE
from mpigauge.result.stats.headline import ONE_WAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.model.record import Key
    from mpigauge.model.row import Estimate, Row
    from mpigauge.result.node.hardware import Hardware
    from mpigauge.result.run_view import RunView
    from mpigauge.result.stats.headline import Headline

FLOOR = "the mailbox floor"
_TIMES = ((86400.0, "days"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


class Against(NamedTuple):
    """A limit, and the ratio of a number of messages to it."""

    what: str
    limit: str
    value: Estimate
    ratio: Estimate


@dataclass(frozen=True)
class Limits:
    """The limits of the node that a run was made on."""

    hardware: Hardware
    age_s: float | None
    """Seconds from their measurement to the run; negative: the run was first. None: unknown."""
    apart: bool
    """True if they are from another run."""
    alike: bool
    """True if all two-rank messages of the run went between the cores of the limits."""
    elsewhere: bool
    """True if the headline's messages did not, so that they cannot be compared."""
    against: tuple[Against, ...] = ()
    """The numbers of the headline, relative to the limits."""
    times: Mapping[Key, Against] = field(default_factory=dict, hash=False)
    """The limit of each one-way message between these two cores, in seconds, by its row's key."""

    @property
    def whose(self) -> str:
        """The run that they are from, how old it is, and between which cores."""
        parts = ["this run"]
        if self.apart:
            parts = [self.hardware.run]
            if self.age_s is not None:
                parts.append(_age(self.age_s))
        if self.hardware.pair:
            pus = " and ".join(map(as_list, self.hardware.pair))
            other = ": not those of these messages" if self.elsewhere else ""
            parts.append(f"cores {pus}{other}")
        return ", ".join(filter(None, parts))


def limits(hardware: Hardware, view: RunView, head: Headline | None) -> Limits | None:
    """The limits of the machine for these numbers; None: the run has no messages between two
    ranks."""
    pairs = [row for row in view.rows if row.ranks == 2 and row.cell.suite != NODE_SUITE]
    if not pairs:
        return None
    near = [row for row in pairs if hardware.concerns(view.ranks_of(row))]
    fits, against = True, []
    if head:
        of_head = [row for row in (head.zero, head.peak) if row]
        fits = all(hardware.concerns(view.ranks_of(row)) for row in of_head)
        if fits:
            against = list(_against(hardware, head))
    times = {}
    for row in near:
        least = _least(hardware, row) if row.benchmark in ONE_WAY else None
        if least:
            times[row.key] = least
    after = hardware.seconds_after(str(view.run.header.get("created", "")))
    return Limits(
        hardware,
        age_s=None if after is None else -after,
        apart=hardware.run != view.run.path.name,
        alike=len(near) == len(pairs),
        elsewhere=not fits,
        against=tuple(against),
        times=times,
    )


def _least(hardware: Hardware, row: Row) -> Against | None:
    """The time that the hardware needs for such a message: of two lines where it is small, else of
    one copy. None of a large one of fresh data: writing these is in the time of the copies, but not
    in that of the message."""
    name, least = FLOOR, hardware.mailbox_s
    if row.message_bytes >= LARGE:
        name, copies = next(hardware.copies_of(row), ("", None))
        if not copies or row.cell.data == "fresh":
            return None
        least = copies.under(row.message_bytes)
    if not least:
        return None
    return Against(byte_count(row.message_bytes), name, least, by(row.latency, least))


def _against(hardware: Hardware, head: Headline) -> Iterator[Against]:
    floor = hardware.mailbox_s
    if head.zero and floor:
        what = f"latency, {byte_count(head.zero.message_bytes)}"
        yield Against(what, FLOOR, floor, by(head.zero.latency, floor))
    if head.peak and head.peak_bandwidth and head.peak.message_bytes >= LARGE:
        what = f"bandwidth, {byte_count(head.peak.message_bytes)}"
        for name, copies in hardware.copies_of(head.peak):
            yield Against(what, name, copies, by(head.peak_bandwidth, copies))


def _age(seconds_before: float) -> str:
    """Returns an age in the largest unit of which it is two or more: 3 days before."""
    when = "before" if seconds_before >= 0 else "after"
    size = abs(seconds_before)
    for factor, unit in _TIMES:
        if size >= 2 * factor or unit == "s":
            return f"{size / factor:.0f} {unit} {when}"
    return ""

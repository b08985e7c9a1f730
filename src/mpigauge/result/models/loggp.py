# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""LogGP as far as rows hold it.

A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, LogGP: incorporating long messages into the
LogP model, SPAA 1995, 95: a message of n bytes takes o + L + o + (n - 1) · G, the overhead of the
sender, latency, the overhead of the receiver, and a gap for each further byte. Short messages
follow each other at a distance of g, or of o where that is larger.

- Half a round trip of the smallest PingPong is L + 2o.
- Uniband sends W messages and waits for an answer, which takes (W - 1) · max(g, o) + 2 (L + 2o).
- G is the time per byte of the last piece of PingPong.

L and o cannot be told apart by these benchmarks. As o is at most max(g, o), it lies between 0 and
that, and L between L + 2o less twice that and L + 2o; these bounds are given, not a guess.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.row import Estimate
from mpigauge.result.stats.pieces import in_pieces, known_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.row import Row

SHORT = 64
"""Longer messages are not short ones."""
_LEAST_INFLIGHT = 4


@dataclass(frozen=True)
class LogGP:
    """The parameters in seconds; None if rows do not determine it, for a reason in `missing`."""

    latency_and_overheads: Estimate | None = None
    """L + 2o."""
    gap: Estimate | None = None
    """max(g, o)."""
    gap_per_byte: Estimate | None = None
    """G."""
    missing: tuple[str, ...] = ()

    @property
    def overhead(self) -> tuple[float, float] | None:
        """The least and the most that o can be."""
        if self.gap is None or self.latency_and_overheads is None:
            return None
        return 0.0, min(self.gap.high, self.latency_and_overheads.high / 2)

    @property
    def latency(self) -> tuple[float, float] | None:
        """The least and the most that L can be."""
        if self.overhead is None or self.latency_and_overheads is None:
            return None
        return (
            max(self.latency_and_overheads.low - 2 * self.overhead[1], 0.0),
            self.latency_and_overheads.high,
        )


def loggp(rows: Sequence[Row]) -> LogGP:
    """The LogGP model of rows between the same two ranks, with the same settings."""
    trips = sorted(_of(rows, "PingPong"), key=lambda row: row.message_bytes)
    if not trips or trips[0].message_bytes > SHORT:
        missing = f"PingPong of two ranks with a message of at most {SHORT} B: gives L + 2o and G"
        return LogGP(missing=(missing,))
    whole = trips[0].latency
    pieces = in_pieces(known_points(trips))
    per_byte = pieces.lines[-1].beta_s_per_byte if pieces else None
    gap = _gap(_of(rows, "Uniband"), whole)
    return LogGP(whole, gap, per_byte, tuple(_missing(per_byte, gap)))


def _missing(per_byte: Estimate | None, gap: Estimate | None) -> list[str]:
    missing = []
    if gap is None:
        missing.append(
            f"Uniband of two ranks with short messages, {_LEAST_INFLIGHT} or more in flight, that "
            "take longer than the answer: gives g"
        )
    if per_byte is None:
        missing.append("PingPong of three sizes or more: gives G")
    return missing


def _of(rows: Sequence[Row], benchmark: str) -> list[Row]:
    result: list[Row] = []
    for row in rows:
        if row.cell.suite == "MPI1" and row.cell.benchmark == benchmark and row.ranks == 2:
            result.append(row)
    return result


def _gap(bands: Sequence[Row], whole: Estimate) -> Estimate | None:
    """The gap between the shortest messages, with the intervals of both times."""
    short = [
        row
        for row in bands
        if 0 <= row.message_bytes <= SHORT and row.cell.inflight >= _LEAST_INFLIGHT
    ]
    if not short:
        return None
    row = min(short, key=lambda each: each.message_bytes)
    between = row.cell.inflight - 1
    value, low, high = (
        (total - 2 * answer) / between
        for total, answer in zip(row.latency, (whole.value, whole.high, whole.low), strict=True)
    )
    if value > 0:
        return Estimate(value, low, high)
    return None

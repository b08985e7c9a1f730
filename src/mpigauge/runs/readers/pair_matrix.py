# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Bandwidths between every two ranks, as other programs print them, as rows of a map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mpigauge.model.record import Rank
from mpigauge.runs.readers.reading import TextTable

BINARY_MEGABYTE = 2**20


@dataclass
class PairMatrix:
    """The bandwidths of one direction, or as one side has measured them: one for each pair."""

    launch: int
    size: int
    """Bytes of a message."""
    fixed: dict[str, Any]
    pairs: list[tuple[int, int]] = field(default_factory=list)
    """The ranks of each pair, the smaller first."""
    rates: list[float] = field(default_factory=list)
    """MB/s of 2^20 bytes, of which the time of a message is computed."""

    def add(self, first: int, second: int, rate: float) -> None:
        self.pairs.append((min(first, second), max(first, second)))
        self.rates.append(rate)

    def table(self) -> TextTable:
        return TextTable(self.fixed | {"launch": self.launch}, len(self.pairs), self._columns)

    def _columns(self) -> dict[str, Sequence[Any]]:
        count = len(self.pairs)
        times = [self.size / (rate * BINARY_MEGABYTE) for rate in self.rates]
        return {
            "members": [f"{first},{second}" for first, second in self.pairs],
            "message_bytes": [self.size] * count,
            "time_p50_s": times,
            "time_mean_s": times,
            "moved_bytes": [self.size] * count,
            "messages": [1] * count,
            "printed_mb_per_s": self.rates,
        }


def ranks_on(hosts: Sequence[str], launch: int) -> Iterator[Rank]:
    """The ranks of a job, of which only the hosts are known."""
    for rank, host in enumerate(hosts):
        yield Rank(launch, rank, host, 0, -1, "", "", -1, -1)

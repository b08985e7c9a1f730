# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Numbers of rows in words, each with its error where one is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mpigauge.model.column_facts import words_in_name
from mpigauge.model.units import byte_count, duration, first_few, many, megabytes_per_s, plus_minus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.model.row import Estimate, Row


def size(row: Row) -> str:
    return byte_count(row.message_bytes)


def number_name(benchmark: str, message_bytes: int, columns: Mapping[str, Any]) -> str:
    """The number of a benchmark with these columns: PingPong 8 B on 2 ranks [l3]."""
    words = [benchmark]
    if byte_count(message_bytes):
        words.append(byte_count(message_bytes))
    if columns.get("ranks"):
        words.append(f"on {many(columns['ranks'], 'rank')}")
    others = [*words_in_name(columns)]
    if columns.get("rank", -1) >= 0:  # of figures
        others.append(f"rank {columns['rank']}")
    if others:
        words.append(f"[{', '.join(others)}]")
    return " ".join(filter(None, words))


def time(row: Row) -> str:
    """The printed time: 1.2 µs ±1.0 %."""
    return duration(row.latency.value) + _error(row.latency)


def bandwidth(row: Row) -> str:
    """The printed bandwidth: 9 876 MB/s ±1.0 %."""
    if row.bandwidth is None:
        return "no bandwidth"
    return f"{megabytes_per_s(row.bandwidth.value)} MB/s{_error(row.bandwidth)}"


def factor(ratio: float) -> str:
    return f"{ratio:.3g} ×"


def settings(names: Iterable[str]) -> str:
    """An attempt that names settings to vary; empty: there are none."""
    named = first_few(names)
    if not named:
        return ""
    return f"vary {named} (`mpigauge mpi settings NAME` describes it, --set sets it)"


def _error(estimate: Estimate) -> str:
    error = estimate.relative_error
    if not math.isfinite(error):
        return " (error not known)"
    return f" {plus_minus(error)}"


def hosts_in_words(hosts: Sequence[str]) -> str:
    """The hosts of ranks that send to each other, in words: within n1, n1 to n2, on 4 hosts; empty:
    not known."""
    names = list(dict.fromkeys(hosts))
    if not names:
        return ""
    if len(names) == 1:
        return f"within {names[0]}"
    if len(names) == 2:
        return f"{names[0]} to {names[1]}"
    return f"on {many(len(names), 'host')}"

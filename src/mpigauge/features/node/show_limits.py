# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Levels of the caches in words, loads under load, and messages by copies, as lines of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.features.node.show_detours import noise_lines
from mpigauge.model.names import COPIES, MESSAGE
from mpigauge.model.units import UNKNOWN, byte_count, number, percent, plus_minus
from mpigauge.model.width import broken
from mpigauge.result.node.detours import cores
from mpigauge.result.node.limits import copied, loaded, steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.model.record import Noise, Rank
    from mpigauge.model.row import Row
    from mpigauge.result.node.limits import Copied, LoadedMemory, Steps
    from mpigauge.result.stats.plateaus import Plateau

_WHAT = {
    "Chase_huge": ("a load, in huge pages", "ns", 1e9),
    "Chase": ("a load", "ns", 1e9),
    "Triad": ("Triad, each of three arrays", "GB/s", 1e-9),
}


def sections(
    rows: Sequence[Row], noise: Iterable[Noise], ranks: Iterable[Rank]
) -> Iterator[list[str]]:
    """What belongs on the page of a node beside its streams and peaks; no empty ones."""
    yield from filter(None, (list(block(rows)) for block in (_steps, _loaded, _copied)))
    if found := cores(noise, ranks):
        yield list(noise_lines(found))


def _steps(rows: Sequence[Row]) -> Iterator[str]:
    found = steps(rows)
    if not found:
        return
    yield "Levels from cache to memory, as measured"
    for each in found:
        yield from broken([f"  {in_words(each)}"], indent="    ")


def in_words(found: Steps) -> str:
    """A load: from 8 KiB to 32 KiB 1.2 ns (1.1 to 1.2), which ends before 64 KiB; …"""
    what, unit, scale = _WHAT[found.benchmark]
    parts = [_level(level, unit, scale) for level in found.levels]
    if not found.levels:
        return f"{what}: UNDECIDED, it stays nowhere the same over three sizes"
    if found.levels[-1].next_bytes is not None:
        behind = byte_count(found.levels[-1].last_bytes)
        parts.append(
            f"behind {behind} UNDECIDED, it still changes at {byte_count(found.last_bytes)}"
        )
    return f"{what}: {'; '.join(parts)}"


def _level(level: Plateau, unit: str, scale: float) -> str:
    low, high = level.value.low * scale, level.value.high * scale
    value = f"{number(level.value.value * scale)} {unit} ({number(low)} to {number(high)})"
    sizes = f"from {byte_count(level.first_bytes)} to {byte_count(level.last_bytes)}"
    if level.next_bytes is None:
        return f"{sizes}, the largest, {value}"
    return f"{sizes} {value}, which ends before {byte_count(level.next_bytes)}"


def _loaded(rows: Sequence[Row]) -> Iterator[str]:
    found = loaded(rows)
    if not found:
        return
    size = byte_count(found[-1].load.message_bytes)
    yield f"A load while others read memory, huge pages, anywhere in {size}"
    yield f"{'others':>8}{'of time':>9}{'ns':>9}{'error':>8}{'they read GB/s':>17}{'error':>8}"
    for each in found:
        yield _beside(each)


def _beside(each: LoadedMemory) -> str:
    load = each.load.latency
    text = (
        f"{each.others:>8}{_of_time(each):>9}{number(load.value * 1e9):>9}"
        f"{plus_minus(load.relative_error):>8}"
    )
    if each.others_read is None or each.others_read.bandwidth is None:
        return text + ("" if each.others == 0 else f"{UNKNOWN:>17}")
    read = each.others_read.bandwidth
    return text + f"{number(read.value * 1e-9):>17}{plus_minus(read.relative_error):>8}"


def _of_time(each: LoadedMemory) -> str:
    if each.others == 0:
        return ""
    return "all" if each.share == 1 else f"1/{1 / each.share:.0f}"


def _copied(rows: Sequence[Row]) -> Iterator[str]:
    found = [each for each in copied(rows) if each.message_bytes > 0]
    if not found:
        return
    names = [name for name in COPIES if any(name in each.rows for each in found)]
    yield f"Messages by nothing but copies, GB/s, and what {MESSAGE} has of them"
    yield f"{'bytes':>9}" + "".join(f"{_title(name):>22}" for name in names)
    for each in found:
        yield f"{byte_count(each.message_bytes):>9}" + "".join(
            f"{_bandwidth(each, name):>22}" for name in names
        )
    yield "  fresh: the message is written anew before it is sent, which is in the times of both"


def _title(name: str) -> str:
    words = name.removeprefix("Copy_").split("_")
    return {"once": "one copy", "twice": "two copies"}[words[0]] + (
        ", fresh" if "fresh" in words else ""
    )


def _bandwidth(each: Copied, name: str) -> str:
    row, share = each.rows.get(name), each.share(name)
    if row is None or row.bandwidth is None:
        return UNKNOWN
    mpi = f" ({percent(share)})" if share is not None else ""
    return f"{number(row.bandwidth.value * 1e-9)}{mpi}"

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Levels of the caches in words, loads under load, and messages by copies, as lines of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.names import COPIES, MESSAGE
from mpigauge.model.units import UNKNOWN, byte_count, number, percent, plus_minus
from mpigauge.model.width import broken
from mpigauge.products.node.show_detours import noise_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.result.node.detours import Cores
    from mpigauge.result.node.limits import Copied, LoadedMemory, MemoryLevels, Steps
    from mpigauge.result.stats.plateaus import Plateau

_WHAT = {
    "Chase_huge": ("a load, in huge pages", "ns", 1e9),
    "Chase": ("a load", "ns", 1e9),
    "Triad": ("Triad, each of three arrays", "GB/s", 1e-9),
}


def sections(memory: MemoryLevels, noise: Cores | None) -> Iterator[list[str]]:
    """The sections on the page of a node next to its streams and peaks, without empty ones."""
    parts = (list(_steps(memory.steps)), list(_loaded(memory.loaded)), list(_copied(memory.copied)))
    for lines in parts:
        if lines:
            yield lines
    if noise:
        yield list(noise_lines(noise))


def _steps(all_steps: Sequence[Steps]) -> Iterator[str]:
    if not all_steps:
        return
    yield "Levels from cache to memory, as measured"
    for each in all_steps:
        yield from broken([f"  {in_words(each)}"], indent="    ")


def in_words(steps: Steps) -> str:
    """A load: from 8 KiB to 32 KiB 1.2 ns (1.1 to 1.2), which ends before 64 KiB; …"""
    what, unit, scale = _WHAT[steps.benchmark]
    parts = [_level(level, unit, scale) for level in steps.levels]
    if not steps.levels:
        return f"{what}: UNDECIDED, it stays nowhere the same over three sizes"
    if steps.levels[-1].next_bytes is not None:
        behind = byte_count(steps.levels[-1].last_bytes)
        parts.append(
            f"behind {behind} UNDECIDED, it still changes at {byte_count(steps.last_bytes)}"
        )
    return f"{what}: {'; '.join(parts)}"


def _level(level: Plateau, unit: str, scale: float) -> str:
    low, high = level.value.low * scale, level.value.high * scale
    value = f"{number(level.value.value * scale)} {unit} ({number(low)} to {number(high)})"
    sizes = f"from {byte_count(level.first_bytes)} to {byte_count(level.last_bytes)}"
    if level.next_bytes is None:
        return f"{sizes}, the largest, {value}"
    return f"{sizes} {value}, which ends before {byte_count(level.next_bytes)}"


def _loaded(loads: Sequence[LoadedMemory]) -> Iterator[str]:
    if not loads:
        return
    size = byte_count(loads[-1].load.message_bytes)
    yield f"A load while others read memory, huge pages, anywhere in {size}"
    yield f"{'others':>8}{'of time':>9}{'ns':>9}{'error':>8}{'they read GB/s':>17}{'error':>8}"
    for each in loads:
        yield _beside(each)


def _beside(each: LoadedMemory) -> str:
    load = each.load.latency
    text = (
        f"{each.others:>8}{_of_time(each):>9}{number(load.value * 1e9):>9}"
        f"{plus_minus(load.relative_error):>8}"
    )
    read = each.others_read.bandwidth if each.others_read else None
    if read is not None:
        return text + f"{number(read.value * 1e-9):>17}{plus_minus(read.relative_error):>8}"
    if each.others == 0:
        return text
    return text + f"{UNKNOWN:>17}"


def _of_time(each: LoadedMemory) -> str:
    if each.others == 0:
        return ""
    if each.share == 1:
        return "all"
    return f"1/{1 / each.share:.0f}"


def _copied(copied: Sequence[Copied]) -> Iterator[str]:
    sized = [each for each in copied if each.message_bytes > 0]
    if not sized:
        return
    measured = {name for each in sized for name in each.rows}
    names = [name for name in COPIES if name in measured]
    yield f"Messages by nothing but copies, GB/s, and what {MESSAGE} has of them"
    yield f"{'bytes':>9}" + _cells([_title(name) for name in names])
    for each in sized:
        yield f"{byte_count(each.message_bytes):>9}" + _cells(
            [_bandwidth(each, name) for name in names]
        )
    yield "  fresh: the message is written anew before it is sent, which is in the times of both"


def _cells(words: Sequence[str]) -> str:
    return "".join(f"{word:>22}" for word in words)


_TITLES = {"once": "one copy", "twice": "two copies"}
"""The titles by the end of a benchmark's name after `Copy_`."""


def _title(name: str) -> str:
    words = name.removeprefix("Copy_").split("_")
    title = _TITLES[words[0]]
    if "fresh" in words:
        return f"{title}, fresh"
    return title


def _bandwidth(each: Copied, name: str) -> str:
    row, share = each.rows.get(name), each.share(name)
    if row is None or row.bandwidth is None:
        return UNKNOWN
    speed = number(row.bandwidth.value * 1e-9)
    if share is None:
        return speed
    return f"{speed} ({percent(share)})"

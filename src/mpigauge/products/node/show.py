# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The machine itself on one page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import UNKNOWN, byte_count, many, number, percent
from mpigauge.model.width import broken
from mpigauge.products.node import show_products as products
from mpigauge.products.node.plan import ARRAYS
from mpigauge.products.node.show_estimates import GIGA, error, scaled
from mpigauge.products.node.show_threads import enough_words, place_lines, thread_lines
from mpigauge.show.ending import named_lines, trust_lines
from mpigauge.show.heading import heading, note_lines
from mpigauge.show.web.of_node import node_numbers

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.document import Document
    from mpigauge.result.node.node import ClockRate, Floor, NodeResult, Stream

WAY = 63
"""The column in which the way begins."""
_STREAM_WORDS = (
    "  bytes as STREAM counts them; on bus: with lines that are fetched to be written to",
    "  plain: the simple loop, which compares with STREAM; tuned: a variant, found by trial",
)
_WAY = {True: "tuned", False: "plain"}


def page(
    document: Document, node: NodeResult, colour: bool = False, more: Iterable[list[str]] = ()
) -> Iterator[str]:
    """The lines: memory, the way there, cores, products, the least latency, and `more` sections."""
    blocks = (_memory, _ranks, thread_lines, place_lines, _curve, _cores, _products, _floors)
    yield from broken(heading(document.facts))
    for block in blocks:
        lines = list(block(node))
        if lines:
            yield ""
            yield from lines
    for lines in more:
        yield ""
        yield from broken(lines)
    ends = (note_lines(document, colour), _numbers(node, colour), trust_lines(document, colour))
    for lines in ends:
        if lines:
            yield ""
            yield from lines


def _numbers(node: NodeResult, colour: bool) -> list[str]:
    """The numbers that people quote of a machine."""
    pairs = []
    for quoted in node_numbers(node):
        pairs.append((quoted.label, f"{quoted.value} {quoted.error}"))
    return named_lines(pairs, colour)


def _memory(node: NodeResult) -> Iterator[str]:
    """All streams on as many ranks as there are."""
    most = max(node.counts, default=0)
    streams = [stream for stream in node.streams if stream.ranks == most]
    if not streams:
        return
    size = byte_count(streams[0].message_bytes)
    yield f"Memory, STREAM-like: {many(most, 'rank')}, arrays of {size} on each"
    yield f"{'':8}{'':8}{'GB/s':>9} {'error':>12}{'on bus':>8}{'of best':>9}{'gain':>7}  way"
    for stream in streams:
        yield from broken([_stream(stream)], indent=" " * WAY)
    yield from broken(_STREAM_WORDS, indent=" " * 4)
    if 0 < streams[0].message_bytes * ARRAYS <= node.cache_bytes:
        cache = byte_count(node.cache_bytes)
        yield f"  {ARRAYS} arrays of {size} fit into a cache of {cache}: that is not the memory"


def _stream(stream: Stream) -> str:
    way = "libc" if stream.name == "Memcpy" else _WAY[stream.tuned]
    gain = f"{stream.gain:.2f} ×" if math.isfinite(stream.gain) else ""
    of_best = percent(stream.bandwidth.value / stream.limit)
    error_text = error(stream.bandwidth, stream.row.is_range)
    return (
        f"{stream.name:8}{way:8}{scaled(stream.bandwidth):>9} {error_text:>12}"
        f"{_or_unknown(stream.on_bus):>8}{of_best:>9}{gain:>7}  {stream.row.cell.variant}"
    ).rstrip()


def _ranks(node: NodeResult) -> Iterator[str]:
    """The gain from more ranks, and the share of each when all are at work."""
    if len(node.counts) < 2:
        return
    yield f"Triad on more ranks, GB/s {'plain':>14} {'tuned':>9} {'each rank, of one alone':>26}"
    rows = {(s.row.cell.benchmark, s.ranks): s.bandwidth.value for s in node.streams}
    alone = rows.get(("Triad_tuned", node.counts[0]))
    for count in node.counts:
        plain, tuned = rows.get(("Triad", count)), rows.get(("Triad_tuned", count))
        share = UNKNOWN
        if tuned and alone:
            share = percent(tuned / alone / count)
        yield f"{count:>10}{_or_unknown(plain):>30} {_or_unknown(tuned):>9} {share:>26}"
    yield from enough_words(node.enough("Triad_tuned"), "rank")


def _curve(node: NodeResult) -> Iterator[str]:
    if not node.curves:
        return
    yield "From cache to memory, 1 rank"
    yield f"{'bytes':>8}{'Triad GB/s':>12}{'load ns':>10}{'in huge pages':>15}"
    for size, rows in node.curves.items():
        triad = rows.get("Triad")
        speed = scaled(triad.bandwidth) if triad and triad.bandwidth else UNKNOWN
        small, huge = _load(rows.get("Chase")), _load(rows.get("Chase_huge"))
        yield f"{byte_count(size):>8}{speed:>12}{small:>10}{huge:>15}"


def _load(row: Row | None) -> str:
    """The time of a load, in ns."""
    if row:
        return number(row.latency.value * 1e9)
    return UNKNOWN


def _cores(node: NodeResult) -> Iterator[str]:
    if not node.peaks and not node.clocks:
        return
    yield "Cores, from registers, double precision"
    for ranks in sorted(node.clocks):
        yield f"  clock with {many(ranks, 'rank')} at work: {_clock(node.clocks[ranks])}"
    for row in node.double_peaks:
        clock = node.clocks.get(row.ranks)
        hz = clock.hz if clock else math.nan
        yield f"  {_peak(row, hz)}{_in_single(node.single_peak(row))}"


def _clock(clock: ClockRate) -> str:
    if clock.agrees:
        return f"{scaled(clock.by_xor)} GHz, by two chains"
    one, other = scaled(clock.by_multiply), scaled(clock.by_xor)
    return f"unknown; one chain gives {one} GHz, the other {other}"


def _in_single(row: Row | None) -> str:
    if row is None or row.rate is None:
        return ""
    return f"; single precision: {scaled(row.rate)}"


def _products(node: NodeResult) -> Iterator[str]:
    return products.lines(node.products, node.throttles)


def _peak(row: Row, hz: float) -> str:
    rate = row.rate
    name = row.cell.benchmark.removeprefix("Peak_")
    if rate is None:
        return f"{name:8}{UNKNOWN}"
    cycle = rate.value / row.ranks / hz
    error_text = error(rate, row.is_range)
    text = f"{name:8}{scaled(rate):>8} GFLOP/s {error_text:>12}  {many(row.ranks, 'rank')}"
    if not math.isfinite(cycle):
        return text
    return f"{text}, {number(cycle)} a cycle of each"


def _floors(node: NodeResult) -> Iterator[str]:
    if not node.floors:
        return
    yield "Least latency between two cores, ns one way"
    for floor in node.floors:
        yield f"  {_floor(floor)}"


def _floor(floor: Floor) -> str:
    cell, scale = floor.row.cell, floor.row.cell.time_scale * 1e9
    ends = f"{number(cell.time_p01_s * scale)} to {number(cell.time_p99_s * scale)}"
    text = f"{cell.benchmark:8}{number(floor.row.latency.value * 1e9):>7}  over lines {ends}"
    if floor.message is None:
        return text
    size, time = floor.message.message_bytes, floor.message.latency.value * 1e9
    return f"{text}; PingPong of {size} B: {number(time)}, {floor.ratio:.1f} × as long"


def _or_unknown(per_s: float | None) -> str:
    if per_s is None:
        return UNKNOWN
    return number(per_s * GIGA)

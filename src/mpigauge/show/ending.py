# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The end of what is printed of a run: its headline numbers, how far to trust them, the
count of its remarks, and one command that comes next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.model.flags import flags_of
from mpigauge.model.screen import without_orders
from mpigauge.model.units import (
    byte_count,
    duration,
    many,
    megabytes_per_s,
    memory,
    microseconds,
    number,
    plus_minus,
    rate,
    with_commas,
)
from mpigauge.model.width import WIDTH, broken
from mpigauge.result.trust import trust
from mpigauge.show.titles import resting_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.model.row import Estimate, Row
    from mpigauge.result.document import Document
    from mpigauge.result.stats.fit import Fit
    from mpigauge.result.stats.headline import Headline

BOLD, RED, YELLOW, PLAIN = "\033[1m", "\033[31m", "\033[33m", "\033[0m"
_COMMAND = re.compile("`[^`]+`")
_INDENT = "  "
_SPACE = "\0"
"""The sign for a space at which no line ends, while lines are wrapped."""
_GOES_ON = ("interrupted", "unfinished")


def ending(document: Document, colour: bool = False) -> list[list[str]]:
    """The last blocks of lines of a run's tables."""
    return [headline_lines(document, colour), trust_lines(document, colour)]


def trust_lines(document: Document, colour: bool = False) -> list[str]:
    """The verdict on the numbers, the count of launches, and the commands that help."""
    sentence = trust(document.rows, document.change)
    sentences = broken([sentence]) if sentence else []
    return [*sentences, *last_lines(document, colour=colour)]


def headline_lines(document: Document, colour: bool = False) -> list[str]:
    """Latency, bandwidth, message rate, and the line through the times."""
    return named_lines([*_measured_of(document), *_fitted_of(document)], colour)


def last_lines(document: Document, step: str = "", colour: bool = False) -> list[str]:
    """The count of the remarks, and the command that comes next: `step`, or the usual one."""
    counted = [painted(line, YELLOW, colour) for line in _wrapped(remarks_counted(document))]
    step = step or next_step(document)
    return counted + _wrapped([f"Next: {step}"] if step else [])


def measured_lines(document: Document, colour: bool = False) -> list[str]:
    """Latency, bandwidth and message rate, or the first numbers of a run without these."""
    return named_lines(list(_measured_of(document)), colour)


def remarks_counted(document: Document) -> Iterator[str]:
    """13 of 54 cells flagged, 2 more remarks; and the command that prints them."""
    flagged = [row for row in document.flagged if row.flags or row.wrong_count]
    words = []
    if flagged:
        words.append(f"{len(flagged)} of {many(len(document.flagged), 'cell')} flagged")
    of_flags = len(flags_of(flagged)) + any(row.wrong_count for row in flagged)
    others = len(document.sentences) - len(document.notes) - of_flags
    if others > 0:
        words.append(many(others, "more remark" if flagged else "remark"))
    if words:
        yield "; ".join([", ".join(words), *_command(document, "show", " --remarks")])


def next_step(document: Document) -> str:
    """The command that is the most use after this run; empty: it is not stored."""
    if any(row.wrong_count for row in document.flagged):
        name, what = "explain", "what is wrong, and what to try"
    elif document.facts.status in _GOES_ON and not document.facts.imported:
        name, what = "resume", "the launches that are missing"
    elif any(row.flags for row in document.flagged):
        name, what = "explain", "anomalies, and what to try"
    else:
        name, what = "report", "one page with plots, for a browser"
    return "".join(f"{command} ({what})" for command in _command(document, name))


def _command(document: Document, name: str, option: str = "") -> Iterator[str]:
    """Yields the command for this run, if it is stored."""
    if document.run:
        yield f"`mpigauge {name} {without_orders(document.run)}{option}`"


def _wrapped(lines: Iterable[str]) -> list[str]:
    """The lines, wrapped so that each command that fits into a line stays in one."""
    joined = (_COMMAND.sub(_in_one_line, line) for line in lines)
    return [line.replace(_SPACE, " ") for line in broken(joined, _INDENT)]


def _in_one_line(command: re.Match[str]) -> str:
    if len(command[0]) > WIDTH - len(_INDENT):
        return command[0]
    return command[0].replace(" ", _SPACE)


# --- numbers --------------------------------------------------------------------------------
def _measured_of(document: Document) -> Iterator[tuple[str, str]]:
    if document.headline:
        yield from _measured(document.headline)
    else:
        yield from _first_numbers(document.rows)


def _fitted_of(document: Document) -> Iterator[tuple[str, str]]:
    """The line through the times. How far each time is from it is in `mpigauge model`."""
    if document.headline:
        yield from _fitted(document.headline)


def first_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows of the smallest and the largest message of the first benchmark, with the default
    settings if several were measured; the one row of a benchmark without messages."""
    usual = [row for row in rows if not row.cell.arm] or list(rows)
    of_first = [row for row in usual if row.benchmark == usual[0].benchmark]
    sized = [row for row in of_first if row.message_bytes > 0] or of_first
    if len(sized) < 2:
        return sized
    return [min(sized, key=_bytes_of), max(sized, key=_bytes_of)]


def _first_numbers(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    for row in first_rows(rows):
        where = with_commas(many(row.ranks, "rank"), row.cell.placement, resting_on(row))
        yield row.cell_name, f"{duration(row.latency.value)} {row.error_words}  ({where})"


def _bytes_of(row: Row) -> int:
    return row.message_bytes


def _measured(head: Headline) -> Iterator[tuple[str, str]]:
    if head.zero:
        what = f"latency, {byte_count(head.zero.message_bytes)}"
        time = f"{_us(head.zero.latency)} µs {head.zero.error_words}"
        whose = with_commas(*_whose(head, head.zero), resting_on(head.zero))
        yield what, f"{time}  ({whose})"
    if head.peak and head.peak_bandwidth:
        peak = head.peak_bandwidth
        text = f"{megabytes_per_s(peak.value, peak.error)} MB/s {head.peak.error_text(peak)}"
        at = f"at {byte_count(head.peak.message_bytes)}"
        where = with_commas(at, *_where(head, head.peak))
        yield "peak bandwidth", f"{text}  {where}"
    if head.busiest and head.message_rate:
        row, best = head.busiest, head.message_rate
        text = f"{rate(best.value, best.error)} {row.error_text(best)}"
        flying = f"{row.cell.inflight} in flight"
        where = with_commas(row.cell_name, flying, *_where(head, row))
        yield "message rate", f"{text}  ({where})"


def _whose(head: Headline, row: Row) -> tuple[str, ...]:
    placement = head.placement_of(row) or row.cell.placement
    return row.benchmark, placement, head.hosts_of(row), head.setting_of(row)


def _where(head: Headline, row: Row) -> tuple[str, ...]:
    return head.placement_of(row), head.hosts_of(row), head.setting_of(row)


def _fitted(head: Headline) -> Iterator[tuple[str, str]]:
    if head.line:
        yield "t = α + β·n", line_words(head.line)
        if placement := head.placement_of(head.zero):
            yield "  of placement", placement
    for line in head.ranges:
        sizes = f"  {byte_count(line.first_bytes)} … {byte_count(line.last_bytes)}"
        yield sizes, line_words(line)


def line_words(line: Fit) -> str:
    """α, bandwidth of very long messages, and half of it, with their errors."""
    alpha = f"α = {_us(line.alpha_s)} µs {plus_minus(line.alpha_s.relative_error)}"
    beta = f"1/β = {_megabytes(line)} MB/s {plus_minus(line.beta_s_per_byte.relative_error)}"
    half = line.half_bandwidth_bytes.value
    if half > 0:
        return f"{alpha}, {beta}, n½ = {memory(half)}"
    return f"{alpha}, {beta}, n½ unknown"


def _megabytes(line: Fit) -> str:
    return number(line.bandwidth.value / 1e6)


def named_lines(pairs: Sequence[tuple[str, str]], colour: bool) -> list[str]:
    wide = max((len(name) for name, _ in pairs), default=0)
    return [f"{bold(f'{name:<{wide}}', colour)}  {text}" for name, text in pairs]


def bold(text: str, colour: bool) -> str:
    return painted(text, BOLD, colour)


def painted(text: str, code: str, colour: bool) -> str:
    if colour and code:
        return f"{code}{text}{PLAIN}"
    return text


def _us(estimate: Estimate) -> str:
    return microseconds(estimate.value, estimate.error)

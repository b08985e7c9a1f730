# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The first answers of a page: the numbers quoted of a machine, and the results of runs in
words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from mpigauge.draw.axes import bytes_per_s
from mpigauge.model.units import (
    byte_count,
    capitalized,
    dotted,
    duration,
    listed,
    many,
    percent,
    plus_minus,
    rate,
)
from mpigauge.result.compare.match.items import ROUND
from mpigauge.result.trust import how_sure
from mpigauge.show.comparisons.beside import counts_of_verdicts
from mpigauge.show.comparisons.programs import own_programs, sentences
from mpigauge.show.ending import first_rows
from mpigauge.show.limits import entries
from mpigauge.show.pivoted.outcome import best_over_sizes, none_over_sizes
from mpigauge.show.titles import resting_on
from mpigauge.show.web.of_fabric import fabric_numbers, fabric_sentences
from mpigauge.show.web.of_node import node_numbers, node_sentences
from mpigauge.show.web.of_pairs import pair_numbers, pair_sentences
from mpigauge.show.web.quoted import QuotedNumber, quoted

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.pairs import PairMap
    from mpigauge.result.run_result import RunResult
    from mpigauge.result.stats.headline import Headline


MOST_OPENING, MOST_NUMBERS = 3, 4
_CUT_SHORT = {
    "interrupted": "This run was interrupted",
    "failed": "This run failed before its end",
    "unfinished": "This run goes on, or was killed",
}
"""The sentence for each way in which a run ended early."""


@dataclass(frozen=True)
class TitledText:
    """Sentences under a title."""

    title: str
    sentences: tuple[str, ...]


def opening(shown: Sequence[RunResult], comparison: Comparison | None) -> tuple[str, ...]:
    """The first sentences of the page: of several runs which is faster; of one that it is not
    whole, then the answer for its kind."""
    if comparison:
        lines: Sequence[str] = sentences(comparison, own_programs([each.run for each in shown]))
        if not lines:
            lines = comparison.sentences
        if not lines:
            lines = [sentence for table in comparison.tables for sentence in table.curve_sentences]
        if not lines and shown[0].view.fabric:
            lines = [f"{line}." for line in counts_of_verdicts(comparison)]
        return tuple(lines)[:MOST_OPENING]
    head = shown[0].document.headline
    of_hosts = (*within_hosts(head), *between_hosts(head))
    return (*_cut_short(shown[0]), *of_hosts, *_answer(shown[0]))


def _answer(shown: RunResult) -> tuple[str, ...]:
    """The main answer: how close a replay is, the best setting or placement, the slow pair of a
    map, the slow host of a network, the limits of a machine, or for any other run the precision of
    its numbers."""
    if shown.replayed:
        return tuple(capitalized(sentence) for sentence in shown.replayed[:MOST_OPENING])
    if shown.across:
        best = list(best_over_sizes(shown.across))
        if best:
            return tuple(best[:MOST_OPENING])
        none = list(none_over_sizes(shown.across))
        if none:
            return (*none[:MOST_OPENING], *how_sure(shown.document.rows))
    pair_map = _map(shown)
    if pair_map:
        return tuple(pair_sentences(pair_map))
    if shown.view.fabric:
        return tuple(fabric_sentences(shown.view.fabric))
    if shown.node:
        can = tuple(node_sentences(shown.node))
        if can:
            return can
    return tuple(how_sure(shown.document.rows))


def _map(shown: RunResult) -> PairMap | None:
    """The map of a run that has nothing else."""
    if all(row.cell.members for row in shown.document.rows):
        return shown.document.pairs
    return None


def _cut_short(shown: RunResult) -> Iterator[str]:
    status = shown.document.facts.status
    if status in _CUT_SHORT:
        launches = many(len(shown.run.launches), "launch")
        numbers = many(len(shown.document.rows), "number")
        yield f"{_CUT_SHORT[status]}: it holds {numbers} of {launches}."
    if status == "failed" and shown.run.failures:
        yield f"{capitalized(shown.run.failures[0].message)}."


def within_hosts(head: Headline | None) -> Iterator[str]:
    """A sentence of a run on several hosts whose quoted numbers say nothing of the network between
    them."""
    if head is None:
        return
    rows = [row for row in (head.zero, head.peak, head.busiest) if row]
    if rows and all(map(head.is_within_host, rows)):
        yield (
            "Latency and bandwidth are of two ranks within one host; none is between hosts "
            "(--place hosts measures that)."
        )


def between_hosts(head: Headline | None) -> Iterator[str]:
    """The numbers between hosts, of a run with placements within a host as well: these are better
    and say nothing of the network."""
    if head is None or not head.placed:
        return
    numbers, hosts = [], ""
    if head.zero and head.latency_s and head.is_between_hosts(head.zero):
        hosts, error = head.hosts_of(head.zero), head.zero.error_words
        size = byte_count(head.zero.message_bytes)
        numbers.append(f"a message of {size} takes {duration(head.latency_s.value)} {error}")
    if head.peak and head.peak_bandwidth and head.is_between_hosts(head.peak):
        hosts, error = head.hosts_of(head.peak), head.peak.error_words
        numbers.append(f"the highest bandwidth is {bytes_per_s(head.peak_bandwidth.value)} {error}")
    if numbers:
        yield f"From {hosts}, {listed(numbers)}."


def answers(shown: RunResult) -> Iterator[QuotedNumber]:
    """Yields at most four numbers: of a map its levels, of a machine its limits, then message
    times, of the default settings if several were measured, with the best beside them."""
    yield from islice(_all_answers(shown), MOST_NUMBERS)


def _all_answers(shown: RunResult) -> Iterator[QuotedNumber]:
    if pair_map := _map(shown):
        yield from pair_numbers(pair_map)
        return
    if shown.view.fabric:
        yield from fabric_numbers(shown.view.fabric)
        return
    if shown.node:
        yield from node_numbers(shown.node)
    head = shown.document.headline
    if head is None:
        if not shown.node:
            yield from _of_first_table(shown)
        return
    if head.zero and head.latency_s:
        label = f"Latency of {byte_count(head.zero.message_bytes)}"
        yield quoted(label, duration, head.zero, head.latency_s, dotted(*_whose(head, head.zero)))
        yield from _best(shown, label, head.zero)
    if head.peak and head.peak_bandwidth:
        size = byte_count(head.peak.message_bytes)
        where = dotted(f"at {size}", *_whose(head, head.peak))
        yield quoted("Highest bandwidth", bytes_per_s, head.peak, head.peak_bandwidth, where)
        yield from _best(shown, f"Time of {size}", head.peak)
    if head.busiest and head.message_rate:
        at = byte_count(head.busiest.message_bytes)
        flying = f"{head.busiest.cell.inflight} in flight"
        where = dotted(at, flying, *_whose(head, head.busiest))
        yield quoted("Message rate", rate, head.busiest, head.message_rate, where)


def _of_first_table(shown: RunResult) -> Iterator[QuotedNumber]:
    """Numbers of a run without these: the smallest and the largest message of its first
    benchmark."""
    sized = [row for row in shown.document.rows if row.message_bytes > 0]
    usual = [row for row in sized if not row.cell.arm]
    settings = "default settings" if len(usual) < len(sized) else ""
    ends = first_rows(usual) if usual else []
    for row in ends if len(ends) > 1 else ():
        where = dotted(many(row.ranks, "rank"), settings, resting_on(row))
        yield quoted(row.cell_name, duration, row, row.latency, where)
        yield from _best(shown, row.cell_name, row)


def _whose(head: Headline, row: Row) -> tuple[str, ...]:
    """The benchmark, place and settings of a row, and what its error rests on."""
    placement = head.placement_of(row) or row.cell.placement
    parts = row.benchmark, placement, head.hosts_of(row), head.setting_of(row)
    return *parts, resting_on(row)


def _best(shown: RunResult, label: str, row: Row) -> Iterator[QuotedNumber]:
    """The best setting for just this row and what it gains, where one is known to be better."""
    if shown.best is None:
        return
    for line in shown.best.lines:
        best, of = line.best, line.first.row
        if best and _is_within_host(shown, row, best.entry.item):
            continue  # a placement within a host is no setting for the network
        if best and best.entry.item and best.entry.ratio and of and of.cell.key == row.cell.key:
            value, ratio = best.entry.item.value, best.entry.ratio.estimate
            gain = f"{percent(1 - ratio.value)} less ({ratio.low:.3g} … {ratio.high:.3g} ×)"
            where = " · ".join((of.benchmark, f"with {best.name}", gain))
            error = plus_minus(value.relative_error)
            yield QuotedNumber(f"{label}, best setting", duration(value.value), error, where)


def _is_within_host(shown: RunResult, row: Row, item: Item | None) -> bool:
    """True if an item is of ranks within one host, and the row of ranks on several."""
    head = shown.document.headline
    if head is None or item is None or item.row is None:
        return False
    return head.is_between_hosts(row) and head.is_within_host(item.row)


def against_limits(shown: RunResult) -> Iterator[TitledText]:
    """Ratios of messages to the limits of the node's hardware."""
    limits = shown.document.limits
    if limits is None:
        return
    lines = []
    for what, words in entries(limits):
        lines.append(f"{what}: {words}." if words else f"{what}.")
    yield TitledText(f"Limits of the node ({limits.whose})", tuple(lines))


def verdicts(comparison: Comparison | None) -> Iterator[TitledText]:
    """The verdicts on the runs against the first, in words."""
    if comparison is None:
        return
    base = comparison.names[0]
    of_network: list[str] = []
    for table in comparison.tables:
        first = table.first
        what = first.benchmark
        if not first.row:
            what = f"{what} {first.what}"
        if first.ranks_word:
            what = f"{what} on {first.ranks_word}"
        lines = (*table.sentences, *table.curve_sentences)
        if first.repeated == ROUND:
            of_network += [f"{what}: {line}" for line in lines]
        elif lines:
            yield TitledText(f"{what}, against {base}", lines)
    if of_network:
        yield TitledText(f"The whole network, against {base}", tuple(of_network))
    if comparison.sentences:
        yield TitledText(f"All together, against {base}", comparison.sentences)

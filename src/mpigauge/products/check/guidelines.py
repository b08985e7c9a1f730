# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks that no collective is slower than what its user could replace it with.

A collective that takes longer than two others with the same result, or than itself with a larger
message, has an unsuitable algorithm (J. L. Träff, W. D. Gropp, R. Thakur,
Self-consistent MPI performance guidelines, IEEE TPDS 21 (2010) 698). Both sides are measured in the
same launches, so their ratio is paired. FAIL if the ratio is significantly above 1, corrected for
the number of ratios; PASS if its whole interval is at most 5 % above 1; else UNDECIDED.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.model.units import byte_count, listed, many
from mpigauge.products.check.result import CheckLine, name_of
from mpigauge.result.stats.order import median
from mpigauge.result.stats.ratio import Sample, ratio
from mpigauge.result.stats.verdicts import TOLERANCE, enough, judge

if TYPE_CHECKING:
    from mpigauge.result.compare.items import Item
    from mpigauge.result.stats.ratio import Ratio
    from mpigauge.result.stats.verdicts import Judged


@dataclass(frozen=True)
class PartialCall:
    """A call that replaces a part of a collective."""

    benchmark: str
    of_all: bool = False
    """True if its message is as large as the messages of all ranks together."""

    def bytes_of(self, message_bytes: int, ranks: int) -> int:
        """Returns the message size of this call for one message size of the collective."""
        if self.of_all:
            return message_bytes * ranks
        return message_bytes


BY_HAND = "_by_hand"
"""The suffix of benchmarks that implement a collective by point-to-point messages."""
GUIDELINES: Mapping[str, tuple[tuple[PartialCall, ...], ...]] = {
    "Allgather": (
        (PartialCall("Gather"), PartialCall("Bcast", of_all=True)),
        (PartialCall("Allgather_by_hand"),),
    ),
    "Allreduce": (
        (PartialCall("Reduce"), PartialCall("Bcast")),
        (PartialCall("Allreduce_by_hand"),),
    ),
    "Alltoall": ((PartialCall("Alltoall_by_hand"),),),
    "Bcast": ((PartialCall("Bcast_by_hand"),),),
    "Reduce_scatter": ((PartialCall("Reduce", of_all=True), PartialCall("Scatter")),),
    "Reduce_scatter_block": ((PartialCall("Reduce", of_all=True), PartialCall("Scatter")),),
    "Gather": ((PartialCall("Allgather"),), (PartialCall("Gather_by_hand"),)),
    "Reduce": ((PartialCall("Allreduce"),), (PartialCall("Reduce_by_hand"),)),
    "Scatter": ((PartialCall("Bcast", of_all=True),), (PartialCall("Scatter_by_hand"),)),
}
"""The calls that can replace each collective. Message sizes are as in its benchmark. Those written
by hand use point-to-point messages (kernels/suites/more/by_hand.cpp)."""
GROWING = (
    *("Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Bcast", "Gather"),
    *("Gatherv", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scatter", "Scatterv"),
)
"""The collectives that should take no longer than with a larger message."""
_NOT_SHARED = ("suite", "benchmark", "message_bytes", "datatype", "op")
Group = tuple[tuple[str, object], ...]
"""The columns that all sides of a guideline share: ranks, placement, arm and so on."""


@dataclass(frozen=True)
class Compared:
    """A collective compared with the calls that can replace it."""

    item: Item
    instead: str
    """The replacement in words, such as Gather + Bcast."""
    at: str
    """The replacement with its message sizes."""
    ratio: Ratio
    seconds: float
    """The median time of the replacement, in seconds."""


def against_guidelines(items: Iterable[Item]) -> tuple[list[CheckLine], list[str]]:
    """Returns a line for each number that violates a guideline, one for all other numbers of a
    collective and a guideline, and sentences about what could not be checked."""
    groups: dict[Group, dict[tuple[str, int], Item]] = defaultdict(dict)
    for item in items:
        if item.row and item.message_bytes > 0:
            groups[_group(item)][item.benchmark, item.message_bytes] = item
    compared: list[Compared] = []
    missing: dict[str, set[str]] = defaultdict(set)
    for items_by_size in groups.values():
        compared += _composed(items_by_size, missing)
        compared += _grown(items_by_size)
    judged = judge([each.ratio for each in compared])
    notes = list(_not_checked(compared, missing))
    return list(_lines(list(zip(compared, judged, strict=True)))), notes


def _not_checked(compared: Sequence[Compared], missing: Mapping[str, set[str]]) -> Iterator[str]:
    """Yields a sentence for each guideline of a collective without a measured size, and one for
    all replacements written by hand that were not measured."""
    checked = {(_of(each), each.instead) for each in compared}
    by_hand = []
    for name in sorted(missing):
        for instead in sorted(missing[name]):
            if (name, instead) in checked:
                continue
            if instead.endswith(BY_HAND):
                by_hand.append(instead)
            else:
                yield f"not checked: {name} against {instead}, of which no size was measured"
    if by_hand:
        yield f"not checked against messages from rank to rank: measure {listed(by_hand)}, too"


def _of(each: Compared) -> str:
    return each.item.benchmark


def _group(item: Item) -> Group:
    return tuple((name, value) for name, value in item.columns if name not in _NOT_SHARED)


def _composed(
    items_by_size: Mapping[tuple[str, int], Item], missing: dict[str, set[str]]
) -> Iterator[Compared]:
    for (name, size), item in items_by_size.items():
        for parts in GUIDELINES.get(name, ()):
            instead = " + ".join(part.benchmark for part in parts)
            ranks = item.row.ranks if item.row else 1
            calls = [(part.benchmark, part.bytes_of(size, ranks)) for part in parts]
            items = [items_by_size[each] for each in calls if each in items_by_size]
            if len(items) < len(calls):
                missing[name].add(instead)
                continue
            at = " + ".join(f"{word} {byte_count(each)}" for word, each in calls)
            yield _compared(item, items, instead, at)


def _grown(items_by_size: Mapping[tuple[str, int], Item]) -> Iterator[Compared]:
    for name in GROWING:
        own = sorted(size for benchmark, size in items_by_size if benchmark == name)
        for size, larger in pairwise(own):
            at = f"{name} {byte_count(larger)}"
            yield _compared(
                items_by_size[name, size], [items_by_size[name, larger]], "its next larger size", at
            )


def _compared(item: Item, parts: Sequence[Item], instead: str, at: str) -> Compared:
    """Compares an item with the sum of its parts over the launches that measured all of them."""
    of_parts = [_by_launch(part) for part in parts]
    own, sums = [], []
    for launch, value in _by_launch(item).items():
        values = [times[launch] for times in of_parts if launch in times]
        if len(values) == len(parts):
            own.append(value)
            sums.append(sum(values))
    error = max(part.sample.own_error for part in parts)
    pairs = [(place, place) for place in range(len(own))]
    compared_ratio = ratio(
        Sample(tuple(sums), error), Sample(tuple(own), item.sample.own_error), pairs
    )
    return Compared(item, instead, at, compared_ratio, median(sums))


def _by_launch(item: Item) -> dict[int, float]:
    return dict(zip(item.numbers, item.sample.values, strict=True))


def _lines(judged: Sequence[tuple[Compared, Judged]]) -> Iterator[CheckLine]:
    together: dict[tuple[Group, str, str], list[tuple[Compared, Judged]]] = defaultdict(list)
    for each, verdict in judged:
        together[_group(each.item), _of(each), each.instead].append((each, verdict))
    for own in together.values():
        good: list[Compared] = []
        others: list[Compared] = []
        for each, verdict in own:
            if verdict.verdict == "MORE":
                yield _failed(each)
            elif _holds(each):
                good.append(each)
            else:
                others.append(each)
        if others:
            yield _undecided(others, len(good))
        elif good:
            yield _passed(good)


def _holds(each: Compared) -> bool:
    return enough(each.ratio) and each.ratio.estimate.high <= 1 + TOLERANCE


def _failed(each: Compared) -> CheckLine:
    value, low, high = each.ratio.estimate
    return CheckLine(
        *("FAIL", name_of(each.item), f"at most {each.instead}", "s", each.item.value),
        allowed=each.seconds,
        why=f"{value:.3g} ({low:.3g} to {high:.3g}) × {each.at}",
    )


def _undecided(others: Sequence[Compared], good: int) -> CheckLine:
    sizes = listed([byte_count(each.item.message_bytes) for each in others])
    if all(enough(each.ratio) for each in others):
        why = f"not sure at {sizes}"
    else:
        why = "fewer than six launches give no interval"
    if good:
        why += f"; holds at {many(good, 'size')}"
    return CheckLine("UNDECIDED", _curve(others[0]), f"at most {others[0].instead}", why=why)


def _passed(good: Sequence[Compared]) -> CheckLine:
    why = f"holds at {many(len(good), 'size')}"
    return CheckLine("PASS", _curve(good[0]), f"at most {good[0].instead}", why=why)


def _curve(each: Compared) -> str:
    """Returns the name without a message size."""
    return name_of(each.item).replace(f" {byte_count(each.item.message_bytes)}", "", 1)

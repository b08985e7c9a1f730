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

from mpigauge.model.cards import SAME_RESULT
from mpigauge.model.former_names import SUITE
from mpigauge.model.units import byte_count, listed, many
from mpigauge.products.check.result import CheckLine, name_of
from mpigauge.result.stats.order import median
from mpigauge.result.stats.ratio import Sample, ratio
from mpigauge.result.stats.verdicts import TOLERANCE, enough, judge

if TYPE_CHECKING:
    from mpigauge.result.compare.match.items import Item
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


GUIDELINES: Mapping[str, tuple[tuple[PartialCall, ...], ...]] = {
    "Allgather": ((PartialCall("Gather"), PartialCall("Bcast", of_all=True)),),
    "Allreduce": ((PartialCall("Reduce"), PartialCall("Bcast")),),
    "Alltoall": (),
    "Bcast": (),
    "Reduce_scatter": ((PartialCall("Reduce", of_all=True), PartialCall("Scatter")),),
    "Reduce_scatter_block": ((PartialCall("Reduce", of_all=True), PartialCall("Scatter")),),
    "Gather": ((PartialCall("Allgather"),),),
    "Reduce": ((PartialCall("Allreduce"),),),
    "Scatter": ((PartialCall("Bcast", of_all=True),),),
}
"""The calls that can replace each collective, besides its algorithms in suite ALG. Message sizes
are as in its benchmark."""
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
    without: set[str] = set()
    for items_by_size in groups.values():
        compared += _composed(items_by_size, missing)
        compared += _written_with_messages(items_by_size, without)
        compared += _grown(items_by_size)
    judged = judge([each.ratio for each in compared])
    notes = list(_not_checked(compared, missing, without))
    return list(_lines(list(zip(compared, judged, strict=True)))), notes


def _not_checked(
    compared: Sequence[Compared], missing: Mapping[str, set[str]], without: set[str]
) -> Iterator[str]:
    """Yields a sentence for each guideline of a collective without a measured size, and one for
    all collectives of which no algorithm was measured."""
    checked = {(_of(each), each.instead) for each in compared}
    for name in sorted(missing):
        for instead in sorted(missing[name]):
            if (name, instead) not in checked:
                yield f"not checked: {name} against {instead}, of which no size was measured"
    has_algorithm = {_of(each) for each in compared if _is_algorithm(each)}
    if without - has_algorithm:
        words = listed(sorted({_family(name) for name in without - has_algorithm}))
        yield f"not checked against messages from rank to rank: measure {words}, too"


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


def _written_with_messages(
    items_by_size: Mapping[tuple[str, int], Item], without: set[str]
) -> Iterator[Compared]:
    """Compares each collective with its algorithms of suite ALG."""
    algorithms: dict[tuple[str, int], list[str]] = defaultdict(list)
    for word, size in items_by_size:
        algorithms[word.partition("/")[0], size].append(word)
    for (name, size), item in items_by_size.items():
        if name not in GUIDELINES:
            continue
        words = algorithms[_family(name), size]
        if not words:
            without.add(name)
        for word in words:
            at = f"{word} {byte_count(size)}"
            yield _compared(item, [items_by_size[word, size]], word, at)


def _family(name: str) -> str:
    """Returns the name that all algorithms of a collective begin with."""
    return f"{SUITE}:{SAME_RESULT.get(name, name)}"


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
    for each, verdict in _fastest_algorithms(judged):
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


def _fastest_algorithms(
    judged: Sequence[tuple[Compared, Judged]],
) -> Iterator[tuple[Compared, Judged]]:
    """Yields all but the algorithms that are faster than a number and have a faster one beside
    them."""
    best: dict[int, Compared] = {}
    for each, verdict in judged:
        if verdict.verdict == "MORE" and _is_algorithm(each):
            other = best.setdefault(id(each.item), each)
            if each.seconds < other.seconds:
                best[id(each.item)] = each
    for each, verdict in judged:
        fastest = best.get(id(each.item))
        if verdict.verdict != "MORE" or not _is_algorithm(each) or each is fastest:
            yield each, verdict


def _is_algorithm(each: Compared) -> bool:
    return each.instead.startswith(f"{SUITE}:")


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

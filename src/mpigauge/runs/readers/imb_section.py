# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The benchmark of an IMB heading, its ranks and its variant."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mpigauge.model.cards import FIRST_SUITE, Card
from mpigauge.runs.readers.imb_columns import Shape, statistic, time_scale
from mpigauge.runs.readers.imb_heading import HeadingKind, HeadingSection, Heads
from mpigauge.runs.readers.known import card_of, known_cards

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.runs.readers.imb_header import Header


SIZE_IS_TOTAL = "size=total"
OPTIONS = {
    "MT": {"stride": "stride", "malloc_algo": "thread-memory", "malloc_align": "malloc_align",
           "barrier": "barrier"},
    "P2P": {"stride": "stride"},
    "HALO": {"topo": "topo"},
}  # fmt: skip
"""Options of IMB by suite, and their names as settings."""


def kind_of(section: HeadingSection, heads: Heads, header: Header) -> HeadingKind:
    card = card_of_heads(section.benchmark, header.suite, heads)
    fixed = fixed_columns(card, section, header)
    if "defects" in heads:
        fixed["check"] = "exact"
    return HeadingKind(card, shape_of(card, section, header), fixed)


def conversions(kind: HeadingKind) -> Iterator[str]:
    """Sentences about sizes and times below a heading that differ from those of other programs."""
    card, shape = kind.card, kind.shape
    if SIZE_IS_TOTAL in kind.fixed["settings"]:
        yield f"{card.name}: the size is that of all ranks together, as it was in IMB until 2018"
    if card.suite == "MT" and shape.threads > 1:
        yield (
            f"IMB-MT with {shape.threads} threads: sizes are those of one thread; IMB prints the "
            "bytes of all threads together"
        )
    if card.columns == "timed_band" and shape.inflight > 1:
        yield (
            f"{card.name}: times are those of all {shape.inflight} messages in flight; IMB prints "
            "the time of one message"
        )


@lru_cache(maxsize=1024)
def card_of_heads(name: str, suite: str, heads: Heads) -> Card:
    """The card of this benchmark; without a banner, of the suite whose tables have these columns.

    A benchmark that mpigauge does not have is described by its columns.
    """
    family = family_of(heads)
    if suite and (card := card_of(suite, name)):
        return card
    alike = [card for card in known_cards() if card.name.lower() == name.lower()]
    alike = [card for card in alike if card.name == name] or alike  # EXT has Unidir_Put, RMA _put
    fitting = [card for card in alike if card.columns == family]
    if not suite and (cards := fitting or alike):
        return next((card for card in cards if card.suite == FIRST_SUITE), cards[0])
    return Card(
        suite=suite or FIRST_SUITE, name=name, about="a benchmark that mpigauge does not have",
        ranks="any", time="call", unit="transfer" if "#bytes" in heads else "none", sync="none",
        rooted=False, by_default=False, columns=family,
    )  # fmt: skip


def family_of(heads: Heads) -> str:
    """The kind of table that has these columns."""
    if "overlap[%]" in heads:
        return "overlap"
    if "t_ovrl[usec]" in heads:
        return "passive"
    if "Msg/sec" in heads:
        return "rate" if "t[usec]" in heads else "timed_band" if "t_avg[usec]" in heads else "band"
    if "t[usec]" in heads:
        return "single"
    if "#bytes" not in heads:
        return "barrier"
    if "Mbytes/sec" in heads:
        return "parallel"
    return "collective"


def fixed_columns(card: Card, section: HeadingSection, header: Header) -> dict[str, Any]:
    """The columns that all rows below this heading share."""
    only = card.completions[0] if len(card.completions) == 1 else ""
    return {
        "suite": card.suite,
        "benchmark": card.name,
        "ranks": section.ranks,
        "groups": section.groups,
        "threads": section.threads,
        "completion": section.completion or only,
        "inflight": shape_of(card, section, header).inflight,
        **_types(card, header),
        "cache": header.cache(),
        "memory": header.memory(),
        "sync": header.sync(card),
        "root_shift": card.rooted and header.is_on("root_shift", False),
        "layout": header.option("contig_type", "base"),
        "settings": _settings(card, header),
        "placement": header.placement(),
        "thread_level": header.option("thread_level"),
        "time_scale": time_scale(card),
        "statistic": statistic(card),
        "source": header.source,
    }


def _settings(card: Card, header: Header) -> str:
    """The options of the suite that have no column."""
    settings = [SIZE_IS_TOTAL] if header.sizes_are_total(card) else []
    for option, name in OPTIONS.get(card.suite, {}).items():
        if value := header.option(option):
            settings.append(f"{name}={value.replace('.', 'x')}")  # a grid: 2.1 is 2x1
    return " ".join(settings)


def shape_of(card: Card, section: HeadingSection, header: Header) -> Shape:
    window = section.window or (header.window() if card.windowed else 1)
    return Shape(section.ranks, window, section.threads, section.dimensions)


def _types(card: Card, header: Header) -> dict[str, str]:
    """Data type and operation; MT does not print them."""
    if card.suite == "MT":
        return {"datatype": "", "op": ""}
    if card.unit == "reduction":
        datatype = header.mpi_word("MPI_Datatype for reductions", "float")
        return {"datatype": datatype, "op": header.mpi_word("MPI_Op", "sum")}
    return {"datatype": header.mpi_word("MPI_Datatype", "byte"), "op": ""}

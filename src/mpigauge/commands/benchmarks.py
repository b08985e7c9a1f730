# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge benchmarks: the benchmarks that can be run."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command, names_of, text_of
from mpigauge.cli.output import screen, tell
from mpigauge.cli.registry import COMMANDS
from mpigauge.model.cards import FIRST_SUITE, Cards, split_at_commas
from mpigauge.model.units import many
from mpigauge.model.width import CUT, wrap

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from mpigauge.model.cards import Card

RANKS = {
    "one": "1",
    "pair": "2",
    "pairs": "even",
    "several": "2…",
    "plane": "a×b",
    "volume": "a×b×c",
}
LEAST_ABOUT = 24
"""Columns of what a benchmark measures, however long names are."""


@click.command("benchmarks", cls=Command)
@click.argument(
    "words", nargs=-1, metavar="[SUITE|BENCHMARK]...", shell_complete=completing.benchmarks
)
@options.mpi_option
@options.json_option
@click.pass_context
def command(
    ctx: click.Context, words: tuple[str, ...], mpi_spec: str | None, as_json: bool
) -> None:
    """List the benchmarks by suite: their ranks, and what they measure.

    A star marks the defaults of a suite. Named benchmarks are described in full, with the options
    that only some benchmarks have.
    """
    from mpigauge.site.mpi import find, kernels
    from mpigauge.site.mpi.query import missing

    mpi = find(mpi_spec)
    path = kernels(mpi, tell).cards
    cards = Cards.load(path)
    chosen = _chosen(cards, words)
    if as_json:
        click.echo(_as_json(path, chosen, in_full=not words), nl=False)
        return
    calls = set(chain.from_iterable(card.needs for card in cards))
    lacking: Collection[str] = ()
    if calls:
        lacking = missing(mpi.library, mpi.env, sorted(calls))
    listed = in_lines
    if words:
        listed = in_full
    for line in listed(chosen, lacking, screen().room):
        click.echo(line)
    if words:
        click.echo("\n".join(_options_of(chosen, ctx)))


def _options_of(cards: Sequence[Card], ctx: click.Context) -> Iterator[str]:
    """The options of `mpigauge run` that not all benchmarks have, and these do."""
    used = {f"--{name}" for card in cards for name in card.options}
    options = [
        param
        for param in COMMANDS["run"].params
        if isinstance(param, click.Option) and used & set(names_of(param))
    ]
    if options:
        yield ""
        yield text_of("Options of `mpigauge run` for these benchmarks", options, ctx)


def in_lines(cards: Sequence[Card], lacking: Collection[str], room: int) -> Iterator[str]:
    """Suite by suite, a line for each benchmark; what it measures ends where the room does."""
    for number, (suite, of) in enumerate(_by_suite(cards).items()):
        if number:
            yield ""
        yield f"{suite}, {many(len(of), 'benchmark')}"
        wide = max(len(card.name) for card in of)
        left = max(room - len(_start(of[0], wide)), LEAST_ABOUT)
        for card in of:
            about = _about(card, lacking)
            if len(about) > left:
                about = f"{about[: left - 1].rstrip()}{CUT}"
            yield f"{_start(card, wide)}{about}"


def in_full(cards: Sequence[Card], lacking: Collection[str], room: int) -> Iterator[str]:
    """Each with all that it measures, in as many lines as that takes."""
    for card in cards:
        yield f"{card.word}, ranks: {RANKS.get(card.ranks, card.ranks)}"
        yield from wrap(
            _about(card, lacking), room - 2, initial_indent="  ", subsequent_indent="  "
        )


def _start(card: Card, wide: int) -> str:
    star = " "
    if card.by_default:
        star = "*"
    return f"{star} {card.name:<{wide}}  {RANKS.get(card.ranks, card.ranks):<5}  "


def _by_suite(cards: Sequence[Card]) -> dict[str, list[Card]]:
    """The benchmarks by suite: MPI1 first, the others in their usual order."""
    suites: dict[str, list[Card]] = {FIRST_SUITE: []}
    for card in cards:
        suites.setdefault(card.suite, []).append(card)
    return {suite: of for suite, of in suites.items() if of}


def _chosen(cards: Cards, words: Sequence[str]) -> list[Card]:
    """All of the suites and benchmarks that are named; of none: all there are. UserError: there is
    none of this name."""
    if not words:
        return list(cards)
    named = cards.named(words)
    suites = {word.lower() for word in split_at_commas(words)}
    return [card for card in cards if card in named or card.suite.lower() in suites]


def _about(card: Card, lacking: Collection[str]) -> str:
    missing = [call for call in card.needs if call in lacking]
    if missing:
        return f"(this MPI library has no {', '.join(missing)})"
    return card.about


def _as_json(path: Path, chosen: Sequence[Card], in_full: bool) -> str:
    """The cards as they are stored, in full or those of what was named."""
    text = path.read_text(encoding="utf-8")
    if in_full:
        return text
    data = json.loads(text)
    kept = {(card.suite, card.name) for card in chosen}
    data["benchmarks"] = [c for c in data["benchmarks"] if (c["suite"], c["name"]) in kept]
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"

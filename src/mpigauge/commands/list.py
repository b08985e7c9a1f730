# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge list: which benchmarks there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli import options

if TYPE_CHECKING:
    from mpigauge.model.cards import Card

RANKS = {
    "one": "1",
    "pair": "2",
    "pairs": "even",
    "several": "2…",
    "plane": "a×b",
    "volume": "a×b×c",
}


@click.command("list")
@options.mpi_option
@click.option("--json", "as_json", is_flag=True, help="Print the cards as they are stored.")
def command(mpi_spec: str | None, as_json: bool) -> None:
    """List the benchmarks: what they measure, and on how many ranks."""
    from mpigauge.cli.screen import tell
    from mpigauge.cli.text_tables import lines
    from mpigauge.model.cards import Cards
    from mpigauge.site.mpi import find, kernels
    from mpigauge.site.mpi.query import missing

    mpi = find(mpi_spec)
    path = kernels(mpi, tell).cards
    if as_json:
        click.echo(path.read_text(encoding="utf-8"), nl=False)
        return
    heads = ["suite", "benchmark", "ranks", "default", "what it measures"]
    cards = Cards.load(path)
    calls = {call for card in cards for call in card.needs}
    lacking = missing(mpi.library, mpi.env, sorted(calls)) if calls else frozenset()
    for line in lines(heads, [_words(card, lacking) for card in cards]):
        click.echo(line)


def _words(card: Card, lacking: frozenset[str]) -> list[str]:
    default = "yes" if card.by_default else "no"
    missing = [call for call in card.needs if call in lacking]
    about = f"(this MPI library has no {', '.join(missing)})" if missing else card.about
    return [card.suite, card.name, RANKS.get(card.ranks, card.ranks), default, about]

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge list: which benchmarks there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli import options

if TYPE_CHECKING:
    from mpigauge.model.cards import Card

RANKS = {"one": "1", "pair": "2", "pairs": "even", "plane": "a×b", "volume": "a×b×c"}


@click.command("list")
@options.mpi_option
@click.option("--json", "as_json", is_flag=True, help="Print the cards as they are stored.")
def command(mpi_spec: str | None, as_json: bool) -> None:
    """List the benchmarks: what they measure, and on how many ranks."""
    from mpigauge.cli.measuring import tell
    from mpigauge.cli.tables import lines
    from mpigauge.model.cards import Cards
    from mpigauge.mpi import find, kernels

    path = kernels(find(mpi_spec), tell).cards
    if as_json:
        click.echo(path.read_text(encoding="utf-8"), nl=False)
        return
    heads = ["suite", "benchmark", "ranks", "default", "what it measures"]
    for line in lines(heads, [_words(card) for card in Cards.load(path)]):
        click.echo(line)


def _words(card: Card) -> list[str]:
    default = "yes" if card.by_default else "no"
    return [card.suite, card.name, RANKS.get(card.ranks, card.ranks), default, card.about]

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge plot: one picture of stored runs, for a paper or a page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command
from mpigauge.cli.options import limits_option
from mpigauge.cli.paths import OutputFile
from mpigauge.model.errors import UserError
from mpigauge.model.typed import as_word

PAGE = ".html"


@click.command("plot", cls=Command)
@click.argument("words", nargs=-1, metavar="RUN... KIND")
@click.option(
    "-o",
    "--output",
    "target",
    type=OutputFile(),
    metavar="FILE",
    help="FILE.svg, FILE.png, FILE.pdf, or FILE.html, a page where curves are switched on and "
    "off.  [default: drawn here, in characters]",
)
@click.option("--benchmark", default="", metavar="NAME", help="Only of this one.")
@click.option(
    "--size", metavar="SIZE", help="The cell of `samples`: 0, 4KiB, …  [default: the first]"
)
@click.option(
    "--columns",
    type=click.Choice(["1", "2"]),
    help="Sized for one column of a paper (85 mm) or for both (175 mm).  [default: for a screen]",
)
@limits_option
@options.list_option("List the kinds of plots.")
@options.json_option
def command(
    words: tuple[str, ...],
    target: Path | None,
    benchmark: str,
    size: str | None,
    columns: str | None,
    limits_of: str | None,
    only_list: bool,
    as_json: bool,
) -> None:
    """Draw one picture of a stored run, or of several in one.

    Several runs are curves beside each other: `mpigauge plot last ref:ulysses latency`. Without -o
    it is drawn in the terminal, or printed as plain text into a pipe. Below a picture are its
    machine, MPI, date, version and command.
    """
    from mpigauge.cli.runs.reporting import print_picture, shown_of, write_picture
    from mpigauge.draw.write import check_picture
    from mpigauge.model.sizes import parse_bytes
    from mpigauge.show.kinds import PLOTS, Chosen, picture_of

    if only_list:
        return _list(as_json)
    if as_json:
        raise UserError("--format json is of --list; numbers: `mpigauge show RUN --format json`")
    if len(words) < 2:
        raise UserError("name a run and a kind of plot: `mpigauge plot last latency`")
    check_order(words, PLOTS)
    kind = PLOTS.find(words[-1])
    if target is not None:
        check_picture(target, "-o", [PAGE])
    if columns and (target is None or target.suffix == PAGE):
        raise UserError("--columns is of a picture for a paper; write it with -o FILE.pdf")
    chosen = Chosen(benchmark, None if size is None else parse_bytes(size))
    shown = shown_of(words[:-1], limits_of)
    picture = picture_of(kind, shown, chosen)
    for each in shown:
        if each.run.part:
            click.echo(f"mpigauge: {each.name}: {each.run.part}", err=True)
    if target is None:
        return print_picture(kind.name, picture)
    write_picture(picture, target, shown, int(columns) if columns else None)
    return click.echo(f"mpigauge: drawn in {target}", err=True)


def check_order(words: Sequence[str], kinds: Collection[str]) -> None:
    """UserError: the kind of plot is the first word instead of the last."""
    kind, *runs = words
    if kind in kinds and words[-1] not in kinds:
        line = " ".join(map(as_word, [*runs, kind]))
        raise UserError(f"the kind of plot is the last word: `mpigauge plot {line}`")


def _list(as_json: bool) -> None:
    from mpigauge.cli.output.text_tables import print_rows
    from mpigauge.show.kinds import PLOTS

    rows = [[kind.name, kind.about] for kind in PLOTS.values()]
    print_rows({"kind": "kind", "about": "shows"}, rows, as_json)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge report: a run as one page for any browser."""

from __future__ import annotations

from pathlib import Path

import click

from mpigauge.cli import completing
from mpigauge.cli.helping import Command
from mpigauge.cli.options import limits_option
from mpigauge.cli.paths import OutputFile
from mpigauge.model.errors import UserError


@click.command("report", cls=Command)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=completing.runs)
@click.option(
    "-o",
    "--output",
    "target",
    type=OutputFile(),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE.html",
    help="Where to write it.",
)
@limits_option
def command(runs: tuple[str, ...], target: Path, limits_of: str | None) -> None:
    """Write a run as one page: the answer in words, the machine, plots, settings and data.

    The page needs no network and no other file. It is about the first run; others, and references
    (`mpigauge ref list`), are curves beside it and are compared with it. A profile has a page of
    its own: call sites, ranks, peers, sizes. Of the folder of a tuning it shows what the rules have
    gained, and what stays at the default and why.
    """
    from mpigauge.cli.reporting import shown_of, write_page
    from mpigauge.draw.write import check_folder
    from mpigauge.products.explain.registry import explained
    from mpigauge.products.profile.by_name import page_of
    from mpigauge.show.web.report import report

    if target.suffix not in (".html", ".htm"):
        raise UserError(f"-o {target}: a report is a page; its name ends with .html")
    check_folder(target, "-o")
    _check_alone(runs)
    text = page_of(runs[0]) or _page_of_tuning(runs[0], limits_of)
    if text is None:
        shown = shown_of(runs, limits_of)
        text = report(shown, explained(shown[0].view), shown.comparison, shown.across)
    write_page(text, target)
    click.echo(f"mpigauge: written to {target}", err=True)


def _page_of_tuning(word: str, limits_of: str | None) -> str | None:
    """The page of the run that confirmed it, with what the tuning says; None: it is none."""
    from mpigauge.products.explain.registry import explained
    from mpigauge.products.tune.show.page import page_of
    from mpigauge.runs.store.tunings import holds_tuning

    folder = Path(word)
    if holds_tuning(folder):
        return page_of(folder, explained, limits_of)
    return None


def _check_alone(runs: tuple[str, ...]) -> None:
    """UserError: a profile or a tuning is among several runs."""
    from mpigauge.products.profile.finding import is_profile
    from mpigauge.runs.store.tunings import holds_tuning

    if len(runs) > 1 and any(holds_tuning(Path(run)) for run in runs):
        raise UserError("the page of a tuning is about one alone; name one folder")
    if len(runs) > 1 and any(map(is_profile, runs)):
        raise UserError(
            "the page of a profile is about one run; `mpigauge compare` sets profiles beside each "
            "other"
        )

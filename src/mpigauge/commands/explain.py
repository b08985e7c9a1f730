# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge explain: what stands out in a run, the likely cause, and what to try."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options

if TYPE_CHECKING:
    from mpigauge.result.finding import Explanation

WIDTH = 96


@click.command("explain")
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@options.format_of(["text", "json"], "text", about="text: for people; json: for programs.")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    help="List the causes that are looked for.",
    callback=lambda ctx, _, asked: _list(ctx) if asked else None,
)
def command(run: str, form: str) -> None:
    """Say in plain words what stands out in a run, and why it is so in all likelihood.

    The dearest comes first, with the share of the time that it costs, the evidence of the run, and
    what to try. It also says what could not be looked at. A profile has causes of its own.

    RUN is a folder, its name below mpigauge-runs or the beginning of it, or `last`.
    """
    from mpigauge.cli.run_names import open_run
    from mpigauge.cli.text_tables import screen_width
    from mpigauge.features.explain.registry import explain
    from mpigauge.features.profile.finding import is_profile
    from mpigauge.show.explanation import page, to_json

    stored = open_run(run)
    said = _of_profile(run) if is_profile(run) else explain(stored)
    if form == "json":
        click.echo(json.dumps(to_json(stored.path.name, said), indent=1, ensure_ascii=False))
    else:
        click.echo("\n".join(page(stored.path.name, said, screen_width() or WIDTH)))


def _of_profile(run: str) -> Explanation:
    from mpigauge.features.profile.causes import explained
    from mpigauge.features.profile.finding import profile_at

    return explained(profile_at(run) or ())


def _list(ctx: click.Context) -> None:
    from mpigauge.cli.text_tables import lines
    from mpigauge.features.explain.registry import CAUSES
    from mpigauge.features.profile.causes import CAUSES as OF_PROFILES

    rows = [[each.name, each.about] for each in CAUSES.values()]
    rows += [[each.name, f"of a profile: {each.about}"] for each in OF_PROFILES]
    click.echo("\n".join(lines(["cause", "looks for"], rows)))
    ctx.exit()

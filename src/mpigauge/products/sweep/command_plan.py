# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge plan: the effect of a plan file, before anything starts."""

from __future__ import annotations

import click

from mpigauge.cli.helping import Command


@click.command("plan", cls=Command, context_settings={"ignore_unknown_options": True})
@click.argument("what", type=click.Choice(["check", "show", "cost"]))
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PLAN.toml")
def command(what: str, words: tuple[str, ...]) -> None:
    """Inspect a plan file without running it.

    check: errors, for the MPIs and the machine here; show: its arms and the location of ranks;
    cost: the number of launches and their duration. Options of `mpigauge sweep` may follow the
    file.
    """
    from mpigauge.products.sweep.command import command as sweep
    from mpigauge.products.sweep.sweeping import arms_of, planned_sweeps, print_plan
    from mpigauge.session.costing import cost_words
    from mpigauge.session.targets import CommandOptions

    values = sweep.make_context(f"mpigauge plan {what}", list(words)).params | {"dry_run": True}
    options = CommandOptions.taken(values)
    for run in planned_sweeps(values, options):
        if what == "show":
            print_plan(run)
        elif what == "cost":
            click.echo(f"{run.setup.mpi.label}: {cost_words(run)}")
        else:
            arms = len(arms_of(run.plan))
            click.echo(f"{run.setup.mpi.label}: {arms} arms, nothing is wrong")

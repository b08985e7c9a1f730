# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge submit: the same command in a job of a batch system."""

from __future__ import annotations

from pathlib import Path

import click

from mpigauge.cli.helping import Command
from mpigauge.cli.options import together


@click.command("submit", cls=Command, context_settings={"allow_interspersed_args": False})
@together(
    click.option(
        "--system",
        "system_name",
        metavar="NAME",
        help="slurm, pbs or lsf.  [default: the one whose program for it is here]",
    ),
    click.option("--nodes", metavar="N", help="Nodes of the job.  [default: 1]"),
    click.option(
        "--ppn",
        metavar="N",
        help="Ranks on each node.  [default: whole nodes with Slurm, one with PBS and LSF]",
    ),
    click.option("--time", "time_", metavar="TIME", help="Time limit of the job: 30m, 2h."),
    click.option("--queue", metavar="NAME", help="Queue; in Slurm a partition."),
    click.option("--account", metavar="NAME", help="Account to charge."),
    click.option(
        "--option",
        "more",
        multiple=True,
        metavar="WORDS",
        help="Extra directives for the job script, such as --constraint=rome.",
    ),
    click.option("--no-wait", is_flag=True, help="Do not follow the job."),
    click.option("--dry-run", is_flag=True, help="Print the script, and submit nothing."),
)
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="COMMAND …")
def command(
    system_name: str | None, words: tuple[str, ...], no_wait: bool, dry_run: bool, **raw: str | None
) -> None:
    """Run a command in a job of a batch system.

    COMMAND is run, quick, map, fabric, node, sweep, profile or resume with its options, as it
    would be without submit: the job's hosts and cores are found there. The job is followed, and
    what it has measured is shown.
    """
    from mpigauge.products.submit import submitting
    from mpigauge.products.submit.queue import Queue
    from mpigauge.site.batch import script

    task = submitting.task(words)
    system = submitting.choose(system_name)
    wish = submitting.wish(raw, task.log)
    text = script(system, wish, task.words, str(Path.cwd()), submitting.environment())
    if dry_run:
        click.echo(text, nl=False)
        return
    submitting.write(task.script, text)
    queue = Queue(system)
    job = queue.submit(text, task.variables)
    submitting.tell(f"job {job} is submitted; its script is {task.script}, its output {task.log}")
    if not no_wait:
        submitting.wait(queue, job, task)

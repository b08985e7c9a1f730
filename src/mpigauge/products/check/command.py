# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge check: whether a run reaches what was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command
from mpigauge.cli.paths import OutputFile
from mpigauge.model.errors import RunError, UserError

if TYPE_CHECKING:
    from mpigauge.products.check.result import CheckResult

FORMATS = ("table", "json")


@click.command("check", cls=Command)
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@click.option(
    "--against",
    metavar="RUN|FILE.toml",
    help="Another run that it may be slower than by the tolerance at most, or a file of limits.",
)
@options.only_option
@click.option("--tolerance", metavar="SHARE", help="With another run.  [default: 5%]")
@click.option(
    "--guidelines",
    is_flag=True,
    help="Check that no collective takes longer than others that bring the same about (Allreduce: "
    "Reduce and Bcast), or than itself with a larger message.",
)
@click.option(
    "--again", is_flag=True, help="Measure what failed once more, and judge that (on its machine)."
)
@click.option(
    "--points",
    is_flag=True,
    help="Judge numbers of fewer than six launches by their values alone: no interval is known.",
)
@click.option(
    "--undecided",
    type=click.Choice(["fail", "pass"]),
    default="fail",
    show_default=True,
    help="Verdict on numbers that neither surely pass nor surely fail.",
)
@click.option(
    "--junit",
    type=OutputFile(),
    metavar="FILE",
    help="Write the result for CI systems, too.",
)
@options.prometheus_option
@options.format_of(FORMATS)
def command(
    run: str,
    against: str | None,
    chosen: Sequence[str],
    tolerance: str | None,
    guidelines: bool,
    again: bool,
    points: bool,
    undecided: str,
    junit: Path | None,
    metrics: Path | None,
    form: str,
) -> int:
    """Check a stored run: limits, a reference, pairs like their peers.

    PASS, FAIL or UNDECIDED for each number. Exit status 0: all pass; 1: one does not.
    """
    from mpigauge.cli.runs import metrics_file
    from mpigauge.products.check.checking import again as measure_again
    from mpigauge.products.check.checking import check_against, check_all
    from mpigauge.products.check.show import as_json, as_table
    from mpigauge.products.check.show_prometheus import metrics_of
    from mpigauge.session.run_names import open_run

    if (tolerance is not None or chosen) and against is None:
        raise UserError("--tolerance and --only are about another run; name it with --against")
    if points and against is None:
        raise UserError("--points is about limits or another run; name them with --against")
    if junit is not None and not junit.absolute().parent.is_dir():
        raise UserError(f"--junit {junit}: there is no folder {junit.absolute().parent}")
    if metrics is not None:
        metrics_file.check_file(metrics)
    stored = open_run(run)
    check = check_against(against, tolerance, chosen, points) if against else None
    result = check_all(stored, check, points, guidelines)
    if again:
        result = measure_again(stored, result, check)
    show = as_json if form == "json" else as_table
    click.echo(show(result), nl=False)
    if junit is not None:
        _write(junit, stored.path.name, result, undecided)
    if metrics is not None:
        metrics_file.write(metrics, metrics_of(result, str(stored.header.get("created"))))
    if result.outcome == "UNDECIDED":
        return int(undecided == "fail")
    return int(result.outcome == "FAIL")


def _write(file: Path, name: str, result: CheckResult, undecided: str) -> None:
    from mpigauge.products.check.show import as_junit

    try:
        text = as_junit(result, f"mpigauge check {name}", undecided)
        file.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise RunError(f"cannot write {file}: {error.strerror}") from None

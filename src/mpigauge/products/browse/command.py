# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge browse: a local page over a folder of runs."""

from __future__ import annotations

import signal
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli.helping import Command
from mpigauge.model.errors import UserError
from mpigauge.model.limits import MOST_PORT

if TYPE_CHECKING:
    from mpigauge.products.browse.serve import ServerAddress


@click.command("browse", cls=Command)
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option("--port", type=click.IntRange(0, MOST_PORT), default=0, metavar="N",
              help="[default: one that is free]")  # fmt: skip
@click.option("--host", metavar="ADDRESS", help="Address on which to listen.  [default: 127.0.0.1]")
@click.option(
    "--let-others-in",
    is_flag=True,
    help="With --host: everybody who can reach this machine and has the address can read all "
    "runs of the folder, over a connection that is not encrypted.",
)
def command(folder: Path | None, port: int, host: str | None, let_others_in: bool) -> None:
    """Look at all runs in a folder with a browser: find and filter them, put some side by side,
    open their reports, and see numbers over time.  [default: mpigauge-runs]

    It is a page of this machine alone, under an address with a token that is printed. It only
    reads. New runs are there when a page is loaded again.
    """
    from mpigauge.model.extras import require

    require("sql", "`mpigauge browse`")
    place = _place(host, let_others_in)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _show(folder, place, port)
    except KeyboardInterrupt:
        click.echo("mpigauge: ended", err=True)
    finally:
        signal.signal(signal.SIGTERM, before)


def _place(host: str | None, others: bool) -> ServerAddress:
    from mpigauge.products.browse.serve import LOOPBACK, ServerAddress

    if others and host is None:
        raise UserError("--let-others-in needs --host: the address of this machine to listen at")
    if host is None or _is_loopback(host):
        return ServerAddress(host or LOOPBACK)
    if not others:
        raise UserError(
            f"--host {host} would admit everybody who can reach this machine and has the "
            "address, over a connection that is not encrypted; if that is intended, add "
            "--let-others-in, else leave --host out and use ssh -L"
        )
    return ServerAddress(host, others=True)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _show(folder: Path | None, place: ServerAddress, port: int) -> None:
    from mpigauge.cli import asking
    from mpigauge.model.units import many
    from mpigauge.products.browse.access import new_token
    from mpigauge.products.browse.addresses import Pages
    from mpigauge.products.browse.runs_folder import RunsFolder
    from mpigauge.products.browse.serve import Server
    from mpigauge.runs.store.writer import DEFAULT_ROOT

    root = folder or DEFAULT_ROOT
    if (root / "run.json").exists():
        raise UserError(f"{root} is one run; name the folder that holds it, or `mpigauge report`")
    token = new_token()
    base = f"/{token}/"
    with (
        RunsFolder.open(root) as runs,
        Server(
            place.host,
            port,
            place.access(token),
            Pages(runs, base),
        ) as server,
    ):
        runs.ask(lambda library: asking.say_notes(library.notes), asking.progress)
        click.echo(f"mpigauge: {many(len(runs.runs()), 'run')} of {root} can be seen at")
        for line in place.words(server.server_port, base):
            click.echo(line)
        server.serve_forever()

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shared by commands: where to measure or look, and the placement of ranks for --dry-run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.cli.output import write_lines
from mpigauge.model.errors import UserError
from mpigauge.session.targets import CommandOptions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mpigauge.session.measuring import PlannedRun
    from mpigauge.session.targets import Target


def to_ask(where: Mapping[str, Any], one_machine: Mapping[str, object]) -> Target | None:
    """The hosts that `options.hosts_to_ask` name, to look at and not to measure; where they name
    none, those of the batch job, if there are several. None: this machine alone, as with each of
    the options that are for one machine. UserError: such an option stands beside hosts."""
    from mpigauge.measuring.plan import read_request
    from mpigauge.session.lookups import look_up
    from mpigauge.session.setup import target_of

    for_one = [option for option, given in one_machine.items() if given is not None]
    named = bool(where["hosts"] or where["hostfile"])
    if for_one and (named or where["rsh"]):
        raise UserError(f"{for_one[0]} is for one machine; leave it or the hosts out")
    if for_one:
        return None
    asked = target_of(read_request(where, look_up(where)), CommandOptions())
    if named or len(asked.hosts) > 1:
        return asked
    if where["rsh"]:
        raise UserError("--rsh is for hosts; name them with --hosts or --hostfile")
    return None


def print_seats(run: PlannedRun) -> None:
    """Prints the placement of ranks in each part of the plan."""
    from mpigauge.cli.runs.seats import seat_lines

    for number, part in enumerate(run.plan.parts):
        write_lines(([""] if number else []) + seat_lines(part, run.setup.resources))

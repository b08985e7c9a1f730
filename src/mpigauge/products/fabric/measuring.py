# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The measurement of a network: groups, plan, launches, and what is printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.cli.output import tell
from mpigauge.cli.output.showing import print_run
from mpigauge.cli.output.terminal import TERMINAL
from mpigauge.cli.runs.placing import print_seats
from mpigauge.measuring.plan import read_request
from mpigauge.model.errors import RunError, UserError
from mpigauge.products.fabric.plan import check_hosts, fabric_plan
from mpigauge.products.fabric.present import present
from mpigauge.result.fabric.fabric import HEADER
from mpigauge.result.fabric.groups import MEASURED, group_of_hosts, read_groups
from mpigauge.session.lookups import look_up
from mpigauge.session.measuring import PlannedRun, check, measure
from mpigauge.session.setup import reach, set_up, target_of
from mpigauge.session.targets import CommandOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.result.fabric.groups import Group
    from mpigauge.session.targets import Setup, Target


def measure_fabric(groups: str | None, **values: Any) -> None:
    """Measures a network, and prints the result. UserError: an option is wrong."""
    options = CommandOptions.taken(values)
    request = read_request({**values, "ppn": values.get("ppn") or 1}, look_up(values))
    target = target_of(request, options)
    names = [host.name for host in target.hosts]
    check_hosts(names)
    request = replace(request, np=len(names) * (request.ppn or 1))  # refused before a build
    named = groups_of(groups, names)
    runs = []
    for setup in set_up(request, options, TERMINAL):
        plan = fabric_plan(
            *(setup.request, setup.cards, setup.resources, setup.mpi),
            groups=group_of_hosts(named),
        )
        lanes = int(plan.parts[0].suite_options["host-ranks"])
        more = {HEADER: header(setup, named, lanes, groups == MEASURED)}
        runs.append(PlannedRun(setup, plan, more=more))
    check(runs, options)
    if options.dry_run:
        print_seats(runs[0])
        return
    measured = measure(runs, options.output, "fabric")
    for stored in measured.runs:
        if options.form is None:
            tell(f"stored in {stored.path}")
            present(stored)
        else:
            print_run(stored, options.form)
    if measured.problems:
        name_lost(target, runs[0].setup)
    measured.raise_problems()


def name_lost(target: Target, setup: Setup) -> None:
    """Names the hosts that no longer answer, after a launch has failed."""
    try:
        reach(target, setup.mpi, setup.built, setup.view)
    except (UserError, RunError) as error:
        tell(f"lost: {error}")


def groups_of(word: str | None, hosts: Sequence[str]) -> tuple[Group, ...]:
    """The groups of a file; none, if they are to be measured. UserError: there are no such."""
    if word is None or word == MEASURED:
        return ()
    return read_groups(Path(word), hosts)


def header(
    setup: Setup, groups: Sequence[Group], lanes: int, is_measured: bool
) -> Mapping[str, object]:
    """The hosts in the order of their ranks, with their groups, for run.json."""
    names = [groups[place].name for place in group_of_hosts(groups)]
    return {
        "hosts": [host.name for host in setup.resources.hosts],
        "lanes": lanes,
        "groups": names,
        "measured": is_measured,
    }

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Converts a launch line to a job, which any of our launchers can start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.hosts import NamedHost
from mpigauge.model.units import many
from mpigauge.site.launch.job import App, Job, OnHost
from mpigauge.site.launch.lines import openmpi

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.site.launch.lines.line import Environment, Line, Program

HERE = NamedHost("localhost")
"""The host of programs without hosts in a line that names hosts for others."""


def job_of(line: Line, mpi: Mpi, here: Mapping[str, str]) -> Job:
    """Returns the ranks, hosts, environment and programs of a line, for this MPI. `here`: the
    environment in which it was typed, from which it may pass variables.

    The result lacks the placement of ranks on hosts (`Line.place`), which depends on the hosts, the
    variables that ranks are not to inherit, and what `untold` returns. UserError: the line leaves a
    number of ranks to its launcher, or has no room for them.
    """
    apps = _on_hosts(line, [_app(program, line, here) for program in line.programs])
    job = Job(
        mpi=mpi,
        ranks=sum(app.ranks for app in apps),
        program=(),
        env=values(line.env, here),
        settings=line.settings if _takes_parameters(mpi) else {},
        hosts=tuple(_joined(host for app in apps for host in app.hosts)),
        in_turn=line.in_turn,
        agent=line.agent,
        oversubscribe=line.oversubscribe,
    )
    if len(apps) > 1:
        return replace(job, apps=tuple(apps))
    alone = apps[0]
    return replace(job, program=alone.program, env={**job.env, **alone.env}, wdir=alone.wdir)


def untold(line: Line, mpi: Mpi) -> tuple[str, ...]:
    """Returns the options that this MPI does not support, as typed."""
    options = list(line.without)
    if not _takes_parameters(mpi):
        options += [f"--mca {name} {value}" for name, value in line.settings.items()]
    return tuple(options)


def values(env: Environment, here: Mapping[str, str]) -> dict[str, str]:
    """Returns the values of these variables, without variables to pass that are not set."""
    stems = tuple(name[:-1] for name in env.passes if name.endswith("*"))
    passed = {
        name: value
        for name, value in here.items()
        if name in env.passes or (stems and name.startswith(stems))
    }
    return {**passed, **env.sets}


def shared_out(
    hosts: Sequence[NamedHost], ranks: int, ppn: int | None, in_turn: bool = False
) -> list[OnHost]:
    """Distributes ranks over hosts: `ppn` on each, else one for each slot, else evenly; if they go
    `in_turn`, no host has two more than another. UserError: there is no room for them."""
    if in_turn and not ppn and not any(host.slots for host in hosts):
        each, more = divmod(ranks, len(hosts))
        counts = (each + (at < more) for at in range(len(hosts)))
        return [OnHost(host.name, n) for host, n in zip(hosts, counts, strict=True) if n]
    evenly = -(-ranks // len(hosts))
    left, on_hosts = ranks, []
    for host in hosts:
        here = min(ppn or host.slots or evenly, left)
        on_hosts += [OnHost(host.name, here)] if here else []
        left -= here
    if left:
        names = ",".join(host.name for host in hosts)
        raise UserError(f"there is room for {many(ranks - left, 'rank')} on {names}, not {ranks}")
    return on_hosts


def _takes_parameters(mpi: Mpi) -> bool:
    """True if the MPI supports Open MPI's MCA parameters."""
    return mpi.launcher == openmpi.GRAMMAR.name


def _app(program: Program, line: Line, here: Mapping[str, str]) -> App:
    env = values(program.env, here)
    return App(program.words, _ranks(program, line), env, wdir=program.wdir)


def _ranks(program: Program, line: Line) -> int:
    """Returns the number of ranks in the line, else the slots of the hosts that it names.

    UserError: it has neither.
    """
    if program.ranks is not None:
        return program.ranks
    hosts = program.hosts or line.hosts
    if hosts and (line.ppn or all(host.slots for host in hosts)):
        return sum(line.ppn or host.slots or 0 for host in hosts)
    raise UserError(
        f"{line.launcher}: the line has no number of ranks for {program.words[0]}; add -n"
    )


def _on_hosts(line: Line, apps: list[App]) -> list[App]:
    """Assigns hosts to programs if the line names any; shared hosts are filled in order."""
    named = [program.hosts for program in line.programs]
    if any(named):
        return [
            replace(app, hosts=tuple(shared_out(hosts or line.hosts or (HERE,), app.ranks, None)))
            for app, hosts in zip(apps, named, strict=True)
        ]
    if not line.hosts:
        return apps
    left = shared_out(line.hosts, sum(app.ranks for app in apps), line.ppn, line.in_turn)
    return [replace(app, hosts=tuple(_taken(left, app.ranks))) for app in apps]


def _taken(left: list[OnHost], ranks: int) -> list[OnHost]:
    """Takes this number of ranks from the front of the hosts, and removes them there."""
    taken = []
    while ranks:
        host = left.pop(0)
        here = min(host.ranks, ranks)
        if here < host.ranks:
            left.insert(0, OnHost(host.name, host.ranks - here))
        ranks -= here
        taken.append(OnHost(host.name, here))
    return taken


def _joined(hosts: Iterable[OnHost]) -> list[OnHost]:
    """Merges consecutive entries of the same host."""
    merged: list[OnHost] = []
    for host in hosts:
        if merged and merged[-1].name == host.name:
            merged[-1] = OnHost(host.name, merged[-1].ranks + host.ranks)
        else:
            merged.append(host)
    return merged

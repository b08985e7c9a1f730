# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of batch systems, a file of this folder each, and the job that we are in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from mpigauge.model.errors import UserError
from mpigauge.model.hostlist import compress
from mpigauge.model.hosts import NamedHost
from mpigauge.model.registry import Registry
from mpigauge.site.batch.system import Given, System

SYSTEMS = Registry[System]("batch system", __name__.rpartition(".")[0], "--system")


def batch_system(kind: type[System]) -> type[System]:
    """Makes a class the batch system of its name."""
    SYSTEMS.add(kind.name, kind())
    return kind


def here(environment: Mapping[str, str]) -> Given | None:
    """The job that we are in; None: it does not exist."""
    for each in SYSTEMS.values():
        if job := environment.get(each.variable):
            return Given(each, job, environment)
    return None


def hosts(given: Given | None) -> tuple[NamedHost, ...]:
    """Returns the hosts of the job that we are in, with the ranks of each; empty outside of a job,
    or if the batch system lists none.

    UserError: its list cannot be parsed.
    """
    if given:
        return given.system.hosts(given.environment, _read)
    return ()


def check_inside(given: Given | None, names: Iterable[str]) -> None:
    """Raises a UserError if a host is not in the job that we are in; no other host is reachable
    from it."""
    there = [host.name for host in hosts(given)]
    if given is None or not there:
        return
    short_names = {_short(name) for name in there}
    for name in names:
        if _short(name) not in short_names and name != "localhost":
            raise UserError(
                f"host {name} is not in job {given.job} of {given.system.name}, which has "
                f"{compress(there)}; ask for it in the job, or take what is there"
            )


def _short(name: str) -> str:
    """Returns the name without its domain, which batch systems may include or omit."""
    if name.replace(".", "").isdecimal():
        return name
    return name.partition(".")[0]


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise UserError(
            f"the batch system's list of hosts, {file}, cannot be read: {why}"
        ) from None

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registries of each MPI's transports and reports, a file of this folder each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from mpigauge.model.mpi import Mpi
from mpigauge.model.registry import Registry, modules_in
from mpigauge.model.transport import Offers, Transport

ListTransports = Callable[[Mpi, Offers], Iterable[Transport]]
ReadReport = Callable[[str], str]


@dataclass(frozen=True)
class Report:
    """The settings and the parser for an MPI's report of the transport in use."""

    settings: Mapping[str, str] = field(hash=False)
    read: ReadReport
    """Returns the transport in a job's output; empty if there is none."""


FOLDER, _, _OWN = __name__.rpartition(".")
_SHARED = ("advice", "choose", "probe", "readers", _OWN)
"""The files of the folder that are of no MPI, which a run without --transport does not import."""


def _modules_of_mpis() -> dict[str, str]:
    return {name: path for name, path in modules_in(FOLDER).items() if name not in _SHARED}


TRANSPORT_LISTS = Registry[ListTransports]("transport list", _modules_of_mpis)
REPORTS = Registry[Report]("transport report", _modules_of_mpis)
NO_REPORT = Report({}, lambda _: "")
"""The report of an MPI that has none: no settings, and an empty result."""


def transports_of(*mpis: str) -> Callable[[ListTransports], ListTransports]:
    """Registers a function that lists the transports of MPIs of these names."""

    def register(function: ListTransports) -> ListTransports:
        for name in mpis:
            TRANSPORT_LISTS.add(name, function)
        return function

    return register


def report_from(mpi: str, settings: Mapping[str, str]) -> Callable[[ReadReport], ReadReport]:
    """Registers a function that parses this MPI's report with these settings."""

    def register(function: ReadReport) -> ReadReport:
        REPORTS.add(mpi, Report(settings, function))
        return function

    return register


def report_of(mpi: str) -> Report:
    """Returns the report of the MPI of this name."""
    return REPORTS.get(mpi, NO_REPORT)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registries of what is known of the transports of each MPI, a file of this folder each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from mpigauge.model.mpi import Mpi
from mpigauge.model.registry import Registry
from mpigauge.model.transport import Offers, Transport

ListTransports = Callable[[Mpi, Offers], Iterable[Transport]]
ReadReport = Callable[[str], str]


@dataclass(frozen=True)
class Report:
    """How an MPI is made to report which transport it uses."""

    settings: Mapping[str, str] = field(hash=False)
    read: ReadReport
    """From all that a job printed to the transport in it; empty where there is none."""


TRANSPORT_LISTS = Registry[ListTransports]("transport list", __name__.rpartition(".")[0])
REPORTS = Registry[Report]("transport report", __name__.rpartition(".")[0])
NO_REPORT = Report({}, lambda _: "")
"""Of an MPI that cannot be asked: it needs no settings, and nothing is read."""


def transports_of(*mpis: str) -> Callable[[ListTransports], ListTransports]:
    """Makes a function the one that lists what MPIs of these names can be told to use."""

    def register(function: ListTransports) -> ListTransports:
        for name in mpis:
            TRANSPORT_LISTS.add(name, function)
        return function

    return register


def report_from(mpi: str, settings: Mapping[str, str]) -> Callable[[ReadReport], ReadReport]:
    """Makes a function the reader of what this MPI reports with these settings."""

    def register(function: ReadReport) -> ReadReport:
        REPORTS.add(mpi, Report(settings, function))
        return function

    return register


def report_of(mpi: str) -> Report:
    """How the MPI of this name reports its transport."""
    return REPORTS.get(mpi, NO_REPORT)

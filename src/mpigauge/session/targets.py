# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The options of a command that measures, its target, and the parts of a plan."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.model.stored_cards import FILE
from mpigauge.session.view import SILENT, View

if TYPE_CHECKING:
    from mpigauge.measuring.plan import Request, Resources
    from mpigauge.model.cards import Cards
    from mpigauge.model.hosts import NamedHost, ProbedHost
    from mpigauge.model.machine import Machine
    from mpigauge.model.mpi import Kernels, Mpi
    from mpigauge.model.topology import Topology
    from mpigauge.model.transport import Selected
    from mpigauge.runs.store.tunings import Tuned
    from mpigauge.site.batch import Given


@dataclass(frozen=True)
class CommandOptions:
    """The options of a command that measures, without those of its request."""

    mpi_specs: tuple[str, ...] = ()
    """Each MPI that was named; none: the one that is found."""
    transport: str | None = None
    output: Path | None = None
    form: str | None = None
    dry_run: bool = False
    topology: Path | None = None
    """The file of the machine for --dry-run."""
    tuned: Path | None = None
    """The folder of the tuning whose rules the MPI is to follow."""
    pivot: bool = False
    """True: show a sweep as sizes × settings."""

    @classmethod
    def taken(cls, options: dict[str, Any]) -> CommandOptions:
        """Takes them out of the options of a command; the rest is the request."""
        return cls(**{f.name: options.pop(f.name) for f in fields(cls) if f.name in options})


@dataclass(frozen=True)
class Target:
    """The hosts that somebody wants to measure; none: this machine."""

    hosts: tuple[NamedHost, ...] = ()
    ppn: int | None = None
    rsh: tuple[str, ...] = ()
    output: Path | None = None
    """The folder in which the run will be stored; None: below mpigauge-runs."""
    topology: Topology | None = None
    """The topology of the hosts, only to show the placement of ranks; None: the actual one."""
    given: Given | None = None
    """The batch job that we are in."""
    launcher: str = ""
    """A launcher other than the MPI's own; empty: its own."""


@dataclass(frozen=True)
class Setup:
    """The parts from which a plan for one MPI is made."""

    machine: Machine
    """The one we stand on."""
    resources: Resources
    """The hosts and cores on which ranks can be placed."""
    mpi: Mpi
    built: Kernels | None
    """The built kernels; None: only programs of the user are launched, which need none."""
    cards: Cards
    request: Request
    """The request, with the settings of this MPI for --transport."""
    nodes: tuple[ProbedHost, ...] = ()
    """The hosts that have answered."""
    transport: Selected | None = None
    """The transport that --transport named."""
    tuned: Tuned | None = None
    """The rules that the MPI follows; None: its own."""
    view: View = SILENT
    """The view of the session."""

    @property
    def kernels(self) -> Kernels:
        """The kernels, for a command that measures by them."""
        assert self.built is not None
        return self.built

    @property
    def cards_text(self) -> str:
        """The cards, as a run stores them. Programs may print tables of benchmarks, too."""
        if self.built is not None:
            return self.built.cards.read_text(encoding="utf-8")
        return FILE.read_text(encoding="utf-8")

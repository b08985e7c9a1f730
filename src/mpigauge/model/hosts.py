# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hosts: as they are named, as they answered, and with the ranks that they get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.machine import Machine


@dataclass(frozen=True)
class NamedHost:
    """A host as somebody wrote it down."""

    name: str
    slots: int | None = None
    """Ranks that it may have; None: not said."""
    place: str = ""
    """Where it was written, for errors: "--hosts, column 3", "hosts.txt, line 2"."""
    most: int | None = None
    """The most ranks that may share its cores; None: any number."""


@dataclass(frozen=True)
class ProbedHost:
    """A host that has answered."""

    name: str
    """As it was named, which is what launchers are told."""
    machine: Machine
    library: str = ""
    """What the MPI library says of itself there."""
    slots: int | None = None
    most: int | None = None
    """The most ranks that may share its cores; None: any number."""


@dataclass(frozen=True)
class HostRanks:
    """A host and the ranks that it gets."""

    host: str
    """As it was named; empty: this machine."""
    ranks: int
    bind: tuple[str, ...] = ()
    """The cores of its local rank 0, 1, …; none: ranks are not bound."""
    hostname: str = ""
    """What it calls itself, and so what its ranks report."""

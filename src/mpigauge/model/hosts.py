# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hosts: as named by the user, as probed, and with their ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.machine import Machine


@dataclass(frozen=True)
class NamedHost:
    """A host as a user named it."""

    name: str
    slots: int | None = None
    """The number of ranks that it may have; None: not given."""
    place: str = ""
    """The place of the name, for errors: "--hosts, column 3", "hosts.txt, line 2"."""
    most: int | None = None
    """The most ranks that may share its cores; None: any number."""


@dataclass(frozen=True)
class ProbedHost:
    """A host that was probed."""

    name: str
    """The name that the user gave, which is passed to launchers."""
    machine: Machine
    library: str = ""
    """The version string of the MPI library on this host."""
    slots: int | None = None
    most: int | None = None
    """The most ranks that may share its cores; None: any number."""


@dataclass(frozen=True)
class HostRanks:
    """A host and its ranks."""

    host: str
    """The name that the user gave; empty: this machine."""
    ranks: int
    bind: tuple[str, ...] = ()
    """The cores of local rank 0, 1, …; empty: ranks are not bound."""
    hostname: str = ""
    """The host's own name, which its ranks report."""
    gpus: tuple[str, ...] = ()
    """The PCI addresses of the GPUs of local rank 0, 1, …; empty: no buffer is on a GPU."""


@dataclass(frozen=True)
class HostGpus:
    """The GPUs of a host as far as they were queried there."""

    offered: tuple[str, ...] | None = None
    """The PCI addresses that the driver reported, in its order; None: it was not asked."""
    visible: str | None = None
    """The value of CUDA_VISIBLE_DEVICES; None: it is not set, or not known."""
    bytes: Mapping[str, int] = field(default_factory=dict, hash=False)
    """The memory of each GPU that is known, by its address."""

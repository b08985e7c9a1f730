# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a launch line says, in values that belong to no launcher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mpigauge.model.hosts import NamedHost


@dataclass(frozen=True)
class Environment:
    """What ranks find in their environment."""

    sets: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Variables that the line gives a value."""
    passes: tuple[str, ...] = ()
    """Variables that ranks get as they are where the line is typed. A `*` at the end stands for
    all that begin so."""
    inherits: bool = True
    """Whether ranks get what the launcher passes of its own accord."""


@dataclass(frozen=True)
class Program:
    """One program of a line, and what is said of it alone."""

    words: tuple[str, ...]
    """It and its arguments."""
    ranks: int | None = None
    """None: as many as the launcher finds slots."""
    hosts: tuple[NamedHost, ...] = ()
    env: Environment = Environment()
    wdir: str = ""


@dataclass(frozen=True)
class Line:
    launcher: str
    """The word that starts it: mpirun, /opt/mpich/bin/mpiexec."""
    dialect: str
    """Whose words these are."""
    programs: tuple[Program, ...]
    env: Environment = Environment()
    """Of all programs."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """MCA parameters of Open MPI."""
    hosts: tuple[NamedHost, ...] = ()
    """Of all programs; none: those that the launcher finds."""
    ppn: int | None = None
    """Ranks on each host."""
    in_turn: bool = False
    """Ranks go from host to host in turn."""
    place: str = ""
    """One of our policies of placement: compact, ppr:2:socket, cores:0,4."""
    unbound: bool = False
    """Ranks are to be bound to nothing."""
    oversubscribe: bool = False
    agent: tuple[str, ...] = ()
    """What starts programs on other hosts."""
    without: tuple[str, ...] = ()
    """Options, each with its values, that have no counterpart among ours."""

    @property
    def ranks(self) -> int | None:
        """The ranks of all programs together; None: the line leaves it to the launcher."""
        counts = [program.ranks for program in self.programs]
        known = [count for count in counts if count is not None]
        return sum(known) if known and len(known) == len(counts) else None

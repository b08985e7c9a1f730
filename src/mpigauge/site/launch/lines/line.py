# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A launch line after parsing, in terms that belong to no launcher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mpigauge.model.hosts import NamedHost


@dataclass(frozen=True)
class Environment:
    """The environment of ranks."""

    sets: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Variables that the line gives a value."""
    passes: tuple[str, ...] = ()
    """Variables that ranks inherit from the environment of the line. A `*` at the end matches all
    names with this beginning."""
    inherits: bool = True
    """True if ranks inherit what the launcher passes by default."""


@dataclass(frozen=True)
class Program:
    """One program of a line, with its own options."""

    words: tuple[str, ...]
    """The program and its arguments."""
    ranks: int | None = None
    """The number of ranks; None: one for each slot that the launcher detects."""
    hosts: tuple[NamedHost, ...] = ()
    env: Environment = Environment()
    wdir: str = ""


@dataclass(frozen=True)
class Line:
    launcher: str
    """The launcher as typed: mpirun, /opt/mpich/bin/mpiexec."""
    dialect: str
    """The name of the grammar: openmpi, hydra, srun or platform."""
    programs: tuple[Program, ...]
    env: Environment = Environment()
    """The environment of all programs."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """MCA parameters of Open MPI."""
    hosts: tuple[NamedHost, ...] = ()
    """The hosts of all programs; none: those that the launcher detects."""
    ppn: int | None = None
    """Ranks on each host."""
    in_turn: bool = False
    """True if ranks go from host to host in turn."""
    place: str = ""
    """One of our policies of placement: compact, ppr:2:socket, cores:0,4."""
    unbound: bool = False
    """True if ranks are not bound."""
    oversubscribe: bool = False
    transport: str = ""
    """Our name of the transport that the line requires: tcp."""
    agent: tuple[str, ...] = ()
    """The command that starts programs on other hosts."""
    without: tuple[str, ...] = ()
    """Options, each with its values, that have no counterpart among ours."""

    @property
    def ranks(self) -> int | None:
        """The ranks of all programs together; None: the line leaves it to the launcher."""
        counts = [program.ranks for program in self.programs]
        numbers = [count for count in counts if count is not None]
        return sum(numbers) if numbers and len(numbers) == len(counts) else None

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is to be started, and how that is said to a launcher."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.model.secrets import as_typed, looks_secret

PRELOAD = "LD_PRELOAD"


@dataclass(frozen=True)
class OnHost:
    """The ranks of one host."""

    name: str
    ranks: int
    words: tuple[str, ...] = ()
    """What the program is told on this host beside its other words."""


@dataclass(frozen=True)
class App:
    """One of several programs of a job, and what is said of its ranks alone."""

    program: tuple[str, ...]
    ranks: int
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    hosts: tuple[OnHost, ...] = ()
    wdir: str = ""


@dataclass(frozen=True)
class RankSet:
    """Ranks that one program line starts, on these hosts in turn."""

    ranks: int
    hosts: tuple[OnHost, ...]
    program: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What these find beside the environment of all."""
    wdir: str = ""

    def told(self, sets: Callable[[str, str], Iterable[str]], wdir: str) -> list[str]:
        """What a launcher is told of these ranks alone: `sets` gives its words for a variable,
        `wdir` is its option for their folder."""
        words = [word for name in sorted(self.env) for word in sets(name, self.env[name])]
        return [*words, *((wdir, self.wdir) if self.wdir else ())]


@dataclass(frozen=True)
class Job:
    mpi: Mpi
    ranks: int
    program: tuple[str, ...]
    """The program and its arguments, one word each."""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Environment variables for all ranks."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Settings of the MPI library: environment variables, or names of Open MPI's MCA."""
    hosts: tuple[OnHost, ...] = ()
    """Hosts in the order of their ranks; none: this one."""
    in_turn: bool = False
    """Ranks go from host to host in turn, and all are told the same; else host by host."""
    agent: tuple[str, ...] = ()
    """What starts programs on other hosts, such as ssh -p 50000; none: the launcher's own."""
    oversubscribe: bool = False
    """Whether there may be more ranks than cores."""
    launcher: str = ""
    """Another than the MPI's own, with what it shall use: srun, srun:pmix."""
    system: str = ""
    """The batch system in a job of which we are; empty: in none."""
    bind: tuple[tuple[int, ...], ...] = ()
    """The cores that the launcher gives local rank 0, 1, … of every host, as the system numbers
    them; none: it binds nobody."""
    stem: str = ""
    """What the names of files begin with that a launcher may need: FOLDER/launch-000."""
    apps: tuple[App, ...] = ()
    """Several programs, in the order of their ranks; none: all ranks start `program`."""
    wdir: str = ""
    """Where the program starts; empty: where its launcher does."""

    @property
    def agent_kind(self) -> str:
        """ssh, by the name of its program, or rsh, which takes no options of ssh."""
        return "ssh" if self.agent and PurePath(self.agent[0]).name == "ssh" else "rsh"

    @property
    def variant(self) -> str:
        """What stands behind the launcher's colon."""
        return self.launcher.partition(":")[2]

    @property
    def order(self) -> list[tuple[str, int]]:
        """The host of each rank, and its number there; an empty name: this machine."""
        if not self.hosts:
            return [("", rank) for rank in range(self.ranks)]
        if self.in_turn:
            many = len(self.hosts)
            return [(self.hosts[r % many].name, r // many) for r in range(self.ranks)]
        return [(host.name, local) for host in self.hosts for local in range(host.ranks)]

    def sets(self, even: bool = False) -> list[RankSet]:
        """One for all hosts where these are told the same, else one for each.

        `even`: hosts with different numbers of ranks get sets of their own too.
        """
        if self.apps:
            return [RankSet(a.ranks, a.hosts, a.program, a.env, a.wdir) for a in self.apps]
        kinds = {
            (host.words, host.ranks if even and not self.in_turn else 0) for host in self.hosts
        }
        if len(kinds) <= 1:
            words = self.hosts[0].words if self.hosts else ()
            program = (*self.program, *words)
            return [RankSet(self.ranks, self.hosts, program, wdir=self.wdir)]
        return [
            RankSet(host.ranks, (host,), (*self.program, *host.words), wdir=self.wdir)
            for host in self.hosts
        ]


def cannot(job: Job, what: str) -> UserError:
    """`what`: of the placement, a launcher cannot be told."""
    return UserError(
        f"--placement launcher: that of {job.mpi.label} cannot be told {what}; take --placement "
        "kernel"
    )


def of_launcher(env: Mapping[str, str]) -> dict[str, str]:
    """What a launcher finds in its own environment of what ranks are told by its words: not what
    they preload, which is for them alone."""
    return {name: value for name, value in env.items() if name != PRELOAD}


def in_words(env: Mapping[str, str]) -> dict[str, str]:
    """Variables that the launcher's words hold, which everybody on the machine can read: no value
    that looks secret. Those are in the launcher's own environment, and handed on from there."""
    return {name: value for name, value in env.items() if not looks_secret(name)}


def mask(cores: Iterable[int]) -> str:
    """The cores as bits of a number, as launchers take them: 0x5 for 0 and 2."""
    return hex(sum(1 << core for core in set(cores)))


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    env: Mapping[str, str] = field(hash=False)
    """What the launcher's own environment needs on top of ours."""
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What has to be written before it is started: texts by their paths."""

    def __str__(self) -> str:
        """As one could type it; for people, never for starting it."""
        return " ".join([*as_typed(self.env), shlex.join(self.words)])

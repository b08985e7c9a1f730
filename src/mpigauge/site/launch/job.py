# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Jobs, and the commands that start them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.model.secrets import as_typed, looks_secret

PRELOAD = "LD_PRELOAD"
LONGEST_WORD = 1 << 16
"""Bytes of a list up to which it is a word. Linux starts no program with a word of 128 KiB."""


@dataclass(frozen=True)
class OnHost:
    """The ranks of one host."""

    name: str
    ranks: int
    words: tuple[str, ...] = ()
    """Extra arguments of the program on this host."""


@dataclass(frozen=True)
class App:
    """One of several programs of a job, with the settings of its ranks alone."""

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
    """Variables of these ranks beyond the environment of all."""
    wdir: str = ""

    def words(self, sets: Callable[[str, str], Iterable[str]], wdir: str) -> list[str]:
        """Returns the launcher's words for these ranks alone. `sets` returns those for a variable;
        `wdir` is the option for the working directory."""
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
    """True if ranks go from host to host in turn, with equal words; False: host by host."""
    agent: tuple[str, ...] = ()
    """The command that starts programs on other hosts (ssh -p 50000); none: the launcher's own."""
    oversubscribe: bool = False
    """True if there may be more ranks than cores."""
    launcher: str = ""
    """A launcher other than the MPI's own, with its variant: srun, srun:pmix."""
    system: str = ""
    """The batch system whose job we are in; empty: none."""
    bind: tuple[tuple[int, ...], ...] = ()
    """The cores to which the launcher binds local rank 0, 1, … of every host, as the system numbers
    them; none: it does not bind."""
    stem: str = ""
    """The beginning of the paths of files that a launcher may need: FOLDER/launch-000."""
    apps: tuple[App, ...] = ()
    """Several programs, in the order of their ranks; none: all ranks start `program`."""
    wdir: str = ""
    """The working directory of the program; empty: that of its launcher."""

    @property
    def agent_kind(self) -> str:
        """The kind of the agent: ssh, by the name of its program, or rsh, without ssh's options."""
        return "ssh" if self.agent and PurePath(self.agent[0]).name == "ssh" else "rsh"

    @property
    def variant(self) -> str:
        """The text after the launcher's colon."""
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
        """Returns one set if all hosts have the same words, else one for each host or program.

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
    """Returns an error: the launcher does not support `what`, a part of the placement."""
    return UserError(
        f"--bind-by launcher: that of {job.mpi.label} does not support {what}; take --bind-by "
        "kernel"
    )


def of_launcher(env: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables for the launcher's own environment: those of the ranks, but not
    LD_PRELOAD, which is for ranks alone."""
    return {name: value for name, value in env.items() if name != PRELOAD}


def in_words(env: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables for the launcher's words, which every user of the machine can read.
    Variables with secret values are passed on from the launcher's own environment instead."""
    return {name: value for name, value in env.items() if not looks_secret(name)}


def mask(cores: Iterable[int]) -> str:
    """Returns the cores as a bit mask for launchers: 0x5 for 0 and 2."""
    return hex(sum(1 << core for core in set(cores)))


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    env: Mapping[str, str] = field(hash=False)
    """Variables of the launcher's environment beyond ours."""
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The contents of files that must be written before the launch, by path."""

    def __str__(self) -> str:
        """Formats the command as one could type it; for people, never for a launch."""
        return " ".join([*as_typed(self.env), shlex.join(self.words)])

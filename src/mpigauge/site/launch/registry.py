# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of launchers, each defined in a file of this folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.errors import no_such
from mpigauge.model.registry import Registry
from mpigauge.site.launch.job import Command, Job

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.registry import Here

Commander = Callable[[Job], Command]


@dataclass(frozen=True)
class Launcher:
    name: str
    command: Commander
    program: str
    """What has to be here for it; empty: it comes with an MPI, which takes it unasked."""
    batch_system: str
    """The only one in whose jobs it starts ranks; empty: it needs none."""
    outside: str
    """What is said outside of such a job, as what follows the name in a sentence."""
    variants: tuple[str, ...]
    """What may follow its name and a colon."""

    @property
    def words(self) -> list[str]:
        """All that --launcher may say to take it."""
        return [self.name, *(f"{self.name}:{variant}" for variant in self.variants)]

    def missing(self, here: Here) -> str:
        """Why it cannot be used here, as what follows its name in a sentence; empty: it can."""
        if self.batch_system and here.batch_system != self.batch_system:
            return self.outside
        if self.program and here.find_program(self.program) is None:
            return (
                f"needs the program {self.program}, which is not on PATH; load its module, or "
                "leave --launcher out to take the MPI's own"
            )
        return ""


LAUNCHERS = Registry[Launcher]("launcher", __name__.rpartition(".")[0], "--launcher")


def launcher(
    name: str,
    program: str = "",
    batch_system: str = "",
    outside: str = "",
    variants: tuple[str, ...] = (),
) -> Callable[[Commander], Commander]:
    """Makes a function the launcher of this name. One that does not come with an MPI names its
    `program`. One that starts ranks in jobs of a `batch_system` alone has a sentence for whoever is
    `outside` of one."""

    def register(function: Commander) -> Commander:
        LAUNCHERS.add(name, Launcher(name, function, program, batch_system, outside, variants))
        return function

    return register


def nameable() -> list[Launcher]:
    """The launchers that --launcher may name: those that do not come with an MPI."""
    return [each for each in LAUNCHERS.values() if each.program]


def check_launcher(words: str, here: Here | None = None) -> None:
    """UserError: --launcher names none (`words` are as it has them), or one that is not here. Where
    no place is given, the ranks will be started elsewhere, and only the name is looked at."""
    name = words.partition(":")[0]
    names = [each.name for each in nameable()]
    if name not in names:
        raise no_such("launcher", name, names, "--launcher")
    if here is not None:
        LAUNCHERS.find_usable(name, here)


def cannot_start(mpi: Mpi, here: Here) -> str:
    """Why the MPI's own launcher starts nothing here, as a sentence; empty: it does."""
    reason = LAUNCHERS.missing(mpi.launcher, here)
    return f"{mpi.label} is started by {mpi.launcher}, which {reason}" if reason else ""


def command(job: Job) -> Command:
    """The words that start this job, with its MPI's own launcher if it names no other."""
    name = job.launcher.partition(":")[0] or job.mpi.launcher
    return LAUNCHERS.find(name).command(job)

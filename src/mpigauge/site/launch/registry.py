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
    """The program that it needs; empty: it comes with an MPI, which uses it by default."""
    batch_system: str
    """The only one in whose jobs it starts ranks; empty: it needs none."""
    outside: str
    """The reason why it is unusable outside of such a job, to follow its name in a sentence."""
    variants: tuple[str, ...]
    """The words that may follow its name and a colon."""

    @property
    def words(self) -> list[str]:
        """All values of --launcher that select it."""
        return [self.name, *(f"{self.name}:{variant}" for variant in self.variants)]

    def missing(self, here: Here) -> str:
        """Returns the reason why it cannot be used here, to follow its name; empty: it can."""
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
    """Registers a function as the launcher of this name. `program`: needed by one that does not
    come with an MPI. `outside`: the message for users outside of a job of `batch_system`, the only
    one in which it starts ranks."""

    def register(function: Commander) -> Commander:
        LAUNCHERS.add(name, Launcher(name, function, program, batch_system, outside, variants))
        return function

    return register


def nameable() -> list[Launcher]:
    """The launchers that --launcher may name: those that do not come with an MPI."""
    return [each for each in LAUNCHERS.values() if each.program]


def check_launcher(words: str, here: Here | None = None) -> None:
    """Raises a UserError if --launcher names none (`words` are its value), or one that is unusable
    here. Without `here`, ranks will be started elsewhere, and only the name is checked."""
    name = words.partition(":")[0]
    names = [each.name for each in nameable()]
    if name not in names:
        raise no_such("launcher", name, names, "--launcher")
    if here is not None:
        LAUNCHERS.find_usable(name, here)


def cannot_start(mpi: Mpi, here: Here) -> str:
    """Returns the reason why the MPI's own launcher cannot start jobs here; empty: it can."""
    reason = LAUNCHERS.missing(mpi.launcher, here)
    return f"{mpi.label} is started by {mpi.launcher}, which {reason}" if reason else ""


def command(job: Job) -> Command:
    """Returns the command for this job, of its MPI's own launcher unless the job names another."""
    name = job.launcher.partition(":")[0] or job.mpi.launcher
    return LAUNCHERS.find(name).command(job)

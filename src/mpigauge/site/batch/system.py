# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The interface of a batch system."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from mpigauge.model.hosts import NamedHost

if TYPE_CHECKING:
    from mpigauge.model.registry import Here

Environment = Mapping[str, str]
Read = Callable[[str], str]
"""The text of a file."""


@dataclass(frozen=True)
class Wish:
    """The resources that a job requests; None: the system's default."""

    name: str
    log: str
    """The file for the output of the job."""
    nodes: int = 1
    ppn: int | None = None
    """Ranks of each node."""
    minutes: int | None = None
    queue: str | None = None
    account: str | None = None
    options: tuple[str, ...] = ()
    """Extra directives for the head of the job script."""


@dataclass(frozen=True)
class BatchState:
    phase: Literal["waiting", "running", "ended", "unknown"]
    why: str = ""
    """The reason for waiting or for a failed end, in words; empty: none to report."""


@dataclass(frozen=True)
class Given:
    """The job that we are in."""

    system: System
    job: str
    environment: Environment = field(hash=False)


class System(ABC):
    name: ClassVar[str]
    variable: ClassVar[str]
    """The environment variable that holds the number of the job, in every job."""
    submit: ClassVar[tuple[str, ...]]
    """The command that reads a job script on its standard input."""
    cancel: ClassVar[str]
    """The program that ends a job."""
    number: ClassVar[re.Pattern[str]]
    """Matches the number of the new job in the output of `submit`."""
    agent: ClassVar[tuple[str, ...]] = ()
    """The command before the host's name that starts a program on a host of the job; none: ssh."""
    shell: ClassVar[tuple[str, ...]] = ()
    """The words after the host's name if the agent takes separate words, not one line for a
    shell."""

    def missing(self, here: Here) -> str:
        """Returns the reason why no job can be submitted here, to follow the name; empty: none."""
        program = self.submit[0]
        if here.find_program(program):
            return ""
        return f"has no program {program} here"

    @abstractmethod
    def hosts(self, environment: Environment, read: Read) -> tuple[NamedHost, ...]:
        """Returns the hosts of the job, each with the number of its ranks."""

    @abstractmethod
    def head(self, wish: Wish) -> list[str]:
        """Returns the lines of a job script that request the resources."""

    @abstractmethod
    def ask(self, job: str) -> tuple[str, ...]:
        """Returns the command that queries the state of a job."""

    @abstractmethod
    def state(self, status: int, answer: str) -> BatchState:
        """Returns the state, from the exit status and output of `ask`'s command."""


def clock(minutes: int) -> str:
    """Formats a duration as hours, minutes and seconds: 1:30:00."""
    return f"{minutes // 60}:{minutes % 60:02d}:00"

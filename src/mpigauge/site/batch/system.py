# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What has to be known of a batch system."""

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
    """What a job asks for; None: the system's default."""

    name: str
    log: str
    """The file for all that the job says."""
    nodes: int = 1
    ppn: int | None = None
    """Ranks of each node."""
    minutes: int | None = None
    queue: str | None = None
    account: str | None = None
    options: tuple[str, ...] = ()
    """More words for the system, as they stand in a script's head."""


@dataclass(frozen=True)
class BatchState:
    phase: Literal["waiting", "running", "ended", "unknown"]
    why: str = ""
    """For people: what it waits for, or how it ended; empty: nothing to say."""


@dataclass(frozen=True)
class Given:
    """The job that we are in."""

    system: System
    job: str
    environment: Environment = field(hash=False)


class System(ABC):
    name: ClassVar[str]
    variable: ClassVar[str]
    """Is set in every job, to its number."""
    submit: ClassVar[tuple[str, ...]]
    """What takes a script on its standard input."""
    cancel: ClassVar[str]
    """The program that ends a job."""
    number: ClassVar[re.Pattern[str]]
    """Finds the number of the new job in what `submit` says."""
    agent: ClassVar[tuple[str, ...]] = ()
    """What starts a program on a host of the job, before the host; none: ssh."""
    shell: ClassVar[tuple[str, ...]] = ()
    """What stands behind the host, where the agent takes words and not a line for a shell."""

    def missing(self, here: Here) -> str:
        """Why no job can be submitted here, as what follows the name; empty: one can."""
        program = self.submit[0]
        if here.find_program(program):
            return ""
        return f"has no program {program} here"

    @abstractmethod
    def hosts(self, environment: Environment, read: Read) -> tuple[NamedHost, ...]:
        """The hosts of the job, each with the ranks that it may have."""

    @abstractmethod
    def head(self, wish: Wish) -> list[str]:
        """The lines of a script that ask for the job."""

    @abstractmethod
    def ask(self, job: str) -> tuple[str, ...]:
        """The words that ask for the state of a job."""

    @abstractmethod
    def state(self, status: int, answer: str) -> BatchState:
        """The state, from exit status and output of these words."""


def clock(minutes: int) -> str:
    """Hours, minutes and seconds: 1:30:00."""
    return f"{minutes // 60}:{minutes % 60:02d}:00"

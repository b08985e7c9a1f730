# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is to be started, and how that is said to a launcher."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from mpigauge.model.mpi import Mpi


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
    hosts: tuple[str, ...] = ()
    """Hosts, each of which gets the same number of ranks in a row; none: this one."""
    oversubscribe: bool = False
    """Whether there may be more ranks than cores."""

    @property
    def ranks_per_host(self) -> int:
        return -(-self.ranks // max(1, len(self.hosts)))


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    env: Mapping[str, str] = field(hash=False)
    """What the launcher's own environment needs on top of ours."""

    def __str__(self) -> str:
        """As one could type it; for people, never for starting it."""
        env = [f"{name}={shlex.quote(value)}" for name, value in sorted(self.env.items())]
        return " ".join([*env, shlex.join(self.words)])

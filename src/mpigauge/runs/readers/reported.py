# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A profile as another profiler reported it: ranks, call sites, their times and messages.

A number that is not in the report is NaN, or None for a count. Rank -1 stands for all ranks
together, if the report has no numbers per rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

ALL_RANKS = -1
NAN = math.nan
LARGEST = 2.0**62


@dataclass(frozen=True)
class ReportedRank:
    """One rank of the job."""

    rank: int
    host: str = ""
    run_s: float = NAN
    mpi_s: float = NAN
    user_s: float = NAN
    system_s: float = NAN


@dataclass(frozen=True)
class ReportedFrame:
    """A place in the program."""

    function: str = ""
    source_file: str = ""
    line: int = 0
    address: int = 0


@dataclass(frozen=True)
class ReportedTime:
    """The calls of a site on one rank, and their time."""

    rank: int
    calls: int | None
    seconds: float
    least_s: float = NAN
    most_s: float = NAN


@dataclass(frozen=True)
class ReportedMessages:
    """Messages of a site on one rank."""

    rank: int
    count: int
    bytes: int
    least: int
    most: int
    peer: int = -1
    """The other rank; -1: unknown."""
    is_received: bool = False
    is_mean: bool = False
    """True if the size is a mean over all messages, and no other size is known."""


@dataclass
class ReportedSite:
    """A call of MPI at one place of the program."""

    call: str
    """The call as the standard spells it: MPI_Send."""
    number: int
    """The site's number in the report; 0: the report does not distinguish places."""
    frames: tuple[ReportedFrame, ...] = ()
    """Ordered from the innermost to the outermost."""
    times: list[ReportedTime] = field(default_factory=list)
    messages: list[ReportedMessages] = field(default_factory=list)
    is_file: bool = False
    """True if its bytes go to files."""


@dataclass(frozen=True)
class ReportedProfile:
    """One report."""

    launch: int
    source: str
    """The profiler, with its version."""
    words: tuple[str, ...]
    """The command."""
    started: str
    """The date as the report prints it."""
    ranks: tuple[ReportedRank, ...]
    sites: tuple[ReportedSite, ...]
    remarks: tuple[str, ...] = ()
    """Sentences about its numbers."""


def whole(number: float) -> int:
    """A number of calls or bytes as an integer; impossibly large ones are limited to LARGEST."""
    return round(min(number, LARGEST))


def call_name(word: str) -> str:
    """The name of a call as the standard spells it, from a report that omits MPI_ or writes it in
    lower case: recv and Recv are MPI_Recv. Calls of SHMEM keep their names."""
    name = word.removeprefix("MPI_").removeprefix("mpi_")
    if name.lower().startswith(("shmem", "pshmem")):
        return word
    return f"MPI_{name[:1].upper()}{name[1:]}"

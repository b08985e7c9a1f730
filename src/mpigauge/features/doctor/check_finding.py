# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a check looks at, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mpigauge.model.machine import Machine
from mpigauge.model.transport import Offers, Transport
from mpigauge.site.mpi.outlook import Outlook
from mpigauge.site.topology.files import Files

State = Literal["bad", "note", "unknown", "good"]
STATES: tuple[State, ...] = ("bad", "note", "unknown", "good")
"""From worst to best. bad: times are spoilt; note: it costs something, or may; unknown: it cannot
be read here."""


@dataclass(frozen=True)
class CheckFinding:
    state: State
    found: str
    costs: str = ""
    """What it does to times; bad and note always say it."""
    mend: str = ""
    """The command or the setting that mends it, or who can; bad and note always say it."""
    check: str = ""
    """The name of the check, which `diagnose` fills in."""


def good(found: str) -> CheckFinding:
    return CheckFinding("good", found)


def note(found: str, costs: str, mend: str) -> CheckFinding:
    return CheckFinding("note", found, costs, mend)


def bad(found: str, costs: str, mend: str) -> CheckFinding:
    return CheckFinding("bad", found, costs, mend)


def unknown(found: str) -> CheckFinding:
    return CheckFinding("unknown", found)


@dataclass(frozen=True)
class CoreNoise:
    """What a loop that only reads the clock noticed on a core."""

    pu: int
    seconds: float
    detours: int
    """How often more than DETOUR_S went by between two looks at the clock."""
    lost_s: float
    """The sum of these."""
    longest_s: float
    switched_out: int
    """How often the scheduler gave the core to another process meanwhile."""

    @property
    def lost_ratio(self) -> float:
        return self.lost_s / self.seconds

    @property
    def per_second(self) -> float:
        return self.detours / self.seconds


CrossMemory = Literal["open", "asked", "refused"]
"""Whether a process may read the memory of a sibling: always, only after that one allowed it by
prctl(PR_SET_PTRACER), or never."""


@dataclass(frozen=True)
class Measurements:
    """What no file tells."""

    noise: tuple[CoreNoise, ...]
    cross_memory: CrossMemory | None
    """None: it could not be tried."""
    problems: tuple[str, ...] = ()
    """Why something could not be measured."""


@dataclass(frozen=True)
class MpiOffers:
    """An MPI, and what it can use here."""

    label: str
    transports: tuple[Transport, ...]
    offers: Offers


@dataclass(frozen=True)
class MpiStart:
    """The duration of a smallest job: two ranks start, exchange a message and end."""

    label: str
    usual_s: float
    quick_s: float | None
    """The duration with the setting that shortens the start; None: this MPI needs no setting."""


@dataclass(frozen=True)
class Host:
    """A machine under examination."""

    files: Files
    machine: Machine
    measured: Measurements | None
    """None: it was not measured, as when the machine is only a record."""
    asked: MpiOffers | None = None
    """None: no MPI was asked."""
    start: MpiStart | None = None
    """None: no MPI was started."""
    outlook: Outlook | None = None
    """Which kernels would measure the MPI; None: no MPI was asked."""

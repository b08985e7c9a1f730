# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The input of a check, and its findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mpigauge.model.machine import Machine
from mpigauge.model.transport import Offers, Transport
from mpigauge.site.mpi.device_memory import MpiOnGpus
from mpigauge.site.mpi.make.outlook import Outlook
from mpigauge.site.topology.files import Files

State = Literal["bad", "note", "unknown", "good"]
STATES: tuple[State, ...] = ("bad", "note", "unknown", "good")
"""The states from worst to best. bad: timings are distorted; note: it has a cost, or may have one;
unknown: it cannot be read here."""


@dataclass(frozen=True)
class CheckFinding:
    state: State
    found: str
    costs: str = ""
    """The effect on timings; never empty for bad and note."""
    mend: str = ""
    """The command or setting that mends it, or who can; never empty for bad and note."""
    check: str = ""
    """The name of the check, which `diagnose` fills in."""


def good(text: str) -> CheckFinding:
    return CheckFinding("good", text)


def note(text: str, costs: str, mend: str) -> CheckFinding:
    return CheckFinding("note", text, costs, mend)


def bad(text: str, costs: str, mend: str) -> CheckFinding:
    return CheckFinding("bad", text, costs, mend)


def unknown(text: str) -> CheckFinding:
    return CheckFinding("unknown", text)


@dataclass(frozen=True)
class CoreNoise:
    """The noise on a core that a loop observed while it only read the clock."""

    pu: int
    seconds: float
    detours: int
    """The number of gaps of more than DETOUR_S between two readings of the clock."""
    lost_s: float
    """The sum of these gaps."""
    longest_s: float
    switched_out: int
    """The number of times that the scheduler gave the core to another process meanwhile."""

    @property
    def lost_ratio(self) -> float:
        return self.lost_s / self.seconds

    @property
    def per_second(self) -> float:
        return self.detours / self.seconds


CrossMemory = Literal["open", "asked", "refused"]
"""Access to the memory of a sibling: always, only after that one allowed it by
prctl(PR_SET_PTRACER), or never."""


@dataclass(frozen=True)
class Measurements:
    """Measurements of what no file contains."""

    noise: tuple[CoreNoise, ...]
    cross_memory: CrossMemory | None
    """The trial of copies between processes; None: it could not be tried."""
    problems: tuple[str, ...] = ()
    """The reasons why something could not be measured."""


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
    """The measurements; None: there are none, as when the machine is only a record."""
    asked: MpiOffers | None = None
    """The properties of the MPI; None: no MPI was probed."""
    start: MpiStart | None = None
    """The start of an MPI; None: no MPI was started."""
    on_gpus: MpiOnGpus | None = None
    """The properties of the MPI; None: no MPI was probed."""
    outlook: Outlook | None = None
    """The state of the kernels for the MPI; None: no MPI was probed."""

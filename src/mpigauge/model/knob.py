# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A setting of an MPI library or of a layer below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Read = Literal["start", "communicator", "call", "running", "never", ""]
"""The time at which a setting is read: when MPI starts, when a communicator is made, at each call;
some time while it runs, since the MPI lists it as changeable then; never: it only reports how the
MPI was built. Empty: unknown."""
READ_WORDS: dict[Read, str] = {
    "start": "when MPI starts",
    "communicator": "when a communicator is made",
    "call": "at each call",
    "running": "may be changed while it runs",
    "never": "fixed when it was built",
    "": "unknown",
}


@dataclass(frozen=True)
class Knob:
    variable: str
    """The environment variable that sets it; empty: none is known."""
    control: str = ""
    """The name of its control variable (MPI_T); empty: it has none."""
    kind: str = ""
    """int, string, bool …"""
    default: str | None = None
    """Its default value; None: unknown."""
    choices: tuple[str, ...] = ()
    """The values that the MPI itself declares."""
    read: Read = ""
    level: Literal["user", "tuner", "developer", ""] = ""
    """The audience that the MPI declares for it."""
    about: str = ""
    """The MPI's own description."""
    meaning: str = ""
    """A description by mpigauge, for settings that matter."""
    legal: str = ""
    """Legal values, as described by mpigauge."""
    family: str = ""
    """The name with a star under which it shares its meaning; empty: it stands alone."""
    of: str = ""
    """The layer that it belongs to, if that is not the MPI itself: ucx, libfabric, launcher."""
    tested: bool = True
    """True if an MPI that has it was tested. Of others only the name is known."""

    @property
    def name(self) -> str:
        return self.variable or self.control

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A setting of an MPI library or of what is below it, as the library and we know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Read = Literal["start", "communicator", "call", "running", "never", ""]
"""When a setting is read: when MPI starts, when a communicator is made, at each call; some time
while it runs, as the MPI says it may be changed then; never: it only tells how the MPI was built.
Empty: it is not told."""
READ_WORDS: dict[Read, str] = {
    "start": "when MPI starts",
    "communicator": "when a communicator is made",
    "call": "at each call",
    "running": "may be changed while it runs",
    "never": "fixed when it was built",
    "": "not told",
}


@dataclass(frozen=True)
class Knob:
    variable: str
    """The environment variable that sets it; empty where none is known."""
    control: str = ""
    """The name of its control variable (MPI_T); empty where it has none."""
    kind: str = ""
    """int, string, bool …"""
    default: str | None = None
    """Its value where nobody sets it; None where that is not told."""
    choices: tuple[str, ...] = ()
    """The values that the MPI itself declares."""
    read: Read = ""
    level: Literal["user", "tuner", "developer", ""] = ""
    """Whom the MPI means it for."""
    about: str = ""
    """The MPI's own words."""
    meaning: str = ""
    """Ours, for those that matter."""
    legal: str = ""
    """Legal values in our words."""
    family: str = ""
    """The name with a star that it shares its meaning under; empty where it stands alone."""
    of: str = ""
    """What it belongs to, where that is not the MPI itself: ucx, libfabric, launcher."""
    tested: bool = True
    """False: known by name only, for there is no MPI here that has it."""

    @property
    def name(self) -> str:
        return self.variable or self.control

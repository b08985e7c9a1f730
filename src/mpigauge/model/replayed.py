# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The replay of one iteration of a program, next to the same calls in its profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Replayed:
    profile: str
    """The name of the run."""
    calls: int
    """The number of steps of an iteration."""
    mpi_s: float
    """Mean MPI time of the same calls in the profile, per iteration and rank."""
    covered: float
    """The share of the program's time in MPI that is replayed."""
    left_out: tuple[tuple[str, float], ...]
    """Calls that are not replayed with their share of that time, largest first."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Replayed:
        left = tuple((str(what), float(share)) for what, share in data["left_out"])
        return cls(**{**data, "left_out": left})

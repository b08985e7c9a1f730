# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the replay of a program stands for: an iteration of it, beside the same in its profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Replayed:
    profile: str
    """The name of the run."""
    calls: int
    """Steps of an iteration."""
    mpi_s: float
    """The same calls in the profile, of an iteration and a rank in the mean."""
    covered: float
    """Share of the program's time in MPI that is replayed."""
    left_out: tuple[tuple[str, float], ...]
    """What is not, with its share of that time, the most first."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Replayed:
        left = tuple((str(what), float(share)) for what, share in data["left_out"])
        return cls(**{**data, "left_out": left})

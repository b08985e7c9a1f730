# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Parses the numbers with units of a file of limits: 1.5 us, 9 GB/s, 2 M/s."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_NUMBER = re.compile(r"(\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*(\S.*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Quantity:
    """A quantity that a limit can restrict."""

    at_most: bool
    """True if less is better."""
    units: Mapping[str, float]
    """The factor of each unit to SI units."""
    example: str

    def read(self, text: str) -> float:
        """Returns the quantity in SI units. ValueError: a wrong number or unit, with a hint."""
        match = _NUMBER.fullmatch(text.strip())
        factor = self.units.get((match[2] or "").strip()) if match else None
        if match is None or factor is None or not float(match[1]) > 0:
            units = ", ".join(self.units)
            raise ValueError(f"'{text}' is not a {self.example}; the units are {units}")
        return float(match[1]) * factor


QUANTITIES: Mapping[str, Quantity] = MappingProxyType({
    "time": Quantity(
        True, {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}, "time such as 1.5 us"
    ),
    "bandwidth": Quantity(
        False,
        {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12},
        "bandwidth such as 9 GB/s (powers of ten)",
    ),
    "rate": Quantity(
        False, {"/s": 1.0, "k/s": 1e3, "M/s": 1e6, "G/s": 1e9}, "rate such as 2 M/s"
    ),
})  # fmt: skip

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rules of a tuning as values: which algorithm a collective uses for which message sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

MOST_BYTES = 2**31 - 1
"""The end of a rule that holds for all longer messages, where an MPI wants one."""


@dataclass(frozen=True)
class Rule:
    """Sizes are those of the benchmark of the same name, in bytes, both ends included."""

    collective: str
    ranks: int
    """Of the communicator, exactly."""
    first_bytes: int
    last_bytes: int
    candidate: str
    """The name of the algorithm among the candidates of its MPI."""
    hosts: int = 1
    """On how many hosts these ranks were when it was chosen."""

    def holds(self, collective: str, ranks: int, message_bytes: int) -> bool:
        return (
            self.collective == collective
            and self.ranks == ranks
            and self.first_bytes <= message_bytes <= self.last_bytes
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Rule:
        """KeyError, TypeError or ValueError: it is not a rule."""
        return cls(
            collective=str(data["collective"]),
            ranks=int(data["ranks"]),
            first_bytes=int(data["first_bytes"]),
            last_bytes=int(data["last_bytes"]),
            candidate=str(data["candidate"]),
            hosts=int(data.get("hosts", 1)),
        )


def candidate_at(rules: Iterable[Rule], collective: str, ranks: int, message_bytes: int) -> str:
    """What the rules choose there; empty: the default of the MPI."""
    for rule in rules:
        if rule.holds(collective, ranks, message_bytes):
            return rule.candidate
    return ""


def of_collective(rules: Iterable[Rule], collective: str) -> list[Rule]:
    """Its rules, from small messages to large ones."""
    own = [rule for rule in rules if rule.collective == collective]
    return sorted(own, key=lambda rule: (rule.ranks, rule.first_bytes))

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tuning rules: the algorithm that a collective uses for each range of message sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

MOST_BYTES = 2**31 - 1
"""The end of a rule for all longer messages, for MPIs that require one."""


@dataclass(frozen=True)
class Rule:
    """A rule of a tuning; sizes are those of the benchmark of the same name, in bytes,
    inclusive."""

    collective: str
    ranks: int
    """The exact size of the communicator."""
    first_bytes: int
    last_bytes: int
    candidate: str
    """The name of the algorithm among the candidates of its MPI."""
    hosts: int = 1
    """The number of hosts of these ranks when the algorithm was chosen."""

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
        """KeyError, TypeError or ValueError: the data is not a rule."""
        return cls(
            collective=str(data["collective"]),
            ranks=int(data["ranks"]),
            first_bytes=int(data["first_bytes"]),
            last_bytes=int(data["last_bytes"]),
            candidate=str(data["candidate"]),
            hosts=int(data.get("hosts", 1)),
        )


def candidate_at(rules: Iterable[Rule], collective: str, ranks: int, message_bytes: int) -> str:
    """The algorithm that the rules choose for this call; empty: the MPI's default."""
    for rule in rules:
        if rule.holds(collective, ranks, message_bytes):
            return rule.candidate
    return ""


def of_collective(rules: Iterable[Rule], collective: str) -> list[Rule]:
    """The rules of a collective, by number of ranks and then by message size."""
    own = [rule for rule in rules if rule.collective == collective]
    return sorted(own, key=lambda rule: (rule.ranks, rule.first_bytes))

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The mix of MPI calls on which a program spends its time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class MixedCall:
    """Calls of one kind on the same number of ranks, with messages between two powers of two."""

    benchmark: str
    """The benchmark that measures them: Allreduce; for point-to-point messages PingPong or
    Sendrecv."""
    ranks: int
    message_bytes: int
    """The size that takes most of the time; of point-to-point messages the mean size."""
    least_bytes: int
    most_bytes: int
    seconds: float
    """Time in these calls, summed over all ranks."""
    datatype: str = ""
    op: str = ""

    def has(self, message_bytes: int) -> bool:
        return self.least_bytes <= message_bytes <= self.most_bytes


def arrival_key(benchmark: str, ranks: int) -> str:
    """The key in `CallMix.arrivals` of a collective on this number of ranks."""
    return f"{benchmark} {ranks}"


@dataclass(frozen=True)
class CallMix:
    profile: str
    """The name of the run."""
    mpi: str
    """Name and version of the MPI library."""
    thread_level: str
    mpi_s: float
    """Time in MPI, summed over all ranks."""
    run_s: float
    """Mean run time of a rank."""
    calls: tuple[MixedCall, ...]
    """Collectives that take 1 % of the time in MPI or more, most expensive first."""
    messages: tuple[MixedCall, ...] = ()
    """Point-to-point messages, likewise. The time that the program waits for messages is divided
    among their sizes."""
    arrivals: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Arrival patterns of collectives, as the kernels take them, by `arrival_key`."""

    @property
    def collectives(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(call.benchmark for call in self.calls))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CallMix:
        """KeyError, TypeError or ValueError: the data is not a call mix."""
        lists = {}
        for name in ("calls", "messages"):
            lists[name] = tuple(MixedCall(**each) for each in data.get(name, ()))
        return cls(**{**data, **lists})

    def arrival(self, benchmark: str, ranks: int) -> str:
        """The arrival pattern of a collective in the program; empty: unknown."""
        return self.arrivals.get(arrival_key(benchmark, ranks), "")

    def groups(self, benchmark: str) -> tuple[int, ...]:
        """The communicator sizes on which the benchmark is called."""
        return tuple(sorted({call.ranks for call in self.every if call.benchmark == benchmark}))

    @property
    def every(self) -> tuple[MixedCall, ...]:
        """Collectives and messages."""
        return self.calls + self.messages

    def of(self, benchmark: str, ranks: int) -> tuple[MixedCall, ...]:
        """The calls of a benchmark on this number of ranks, by size. If there are several data
        types, those of the one that takes most of the time."""
        own = [call for call in self.every if (call.benchmark, call.ranks) == (benchmark, ranks)]
        kind = own[0].datatype, own[0].op
        alike = (call for call in own if (call.datatype, call.op) == kind)
        return tuple(sorted(alike, key=lambda call: call.message_bytes))

    def seconds(self, benchmark: str, ranks: int, message_bytes: int) -> float:
        """Time that the program spends on calls of about this size; 0: it makes none."""
        fitting = (call for call in self.every if call.has(message_bytes))
        return sum(
            call.seconds for call in fitting if (call.benchmark, call.ranks) == (benchmark, ranks)
        )

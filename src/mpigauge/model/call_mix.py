# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""On which calls a program spends its time in MPI, as a value that others may choose by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class MixedCall:
    """Calls of one kind among as many ranks, of messages between a power of two and the next."""

    benchmark: str
    """What measures them: Allreduce; of messages from rank to rank PingPong or Sendrecv."""
    ranks: int
    message_bytes: int
    """Of those that take most of the time."""
    least_bytes: int
    most_bytes: int
    seconds: float
    """Of all ranks."""
    datatype: str = ""
    op: str = ""

    def has(self, message_bytes: int) -> bool:
        return self.least_bytes <= message_bytes <= self.most_bytes


def arrival_key(benchmark: str, ranks: int) -> str:
    """The key in `CallMix.arrivals` of a collective among so many ranks."""
    return f"{benchmark} {ranks}"


@dataclass(frozen=True)
class CallMix:
    profile: str
    """The name of the run."""
    mpi: str
    """With its version."""
    thread_level: str
    mpi_s: float
    """Of all ranks."""
    run_s: float
    """Of a rank."""
    calls: tuple[MixedCall, ...]
    """Collectives that take 1 % of the time in MPI or more, the dearest first."""
    messages: tuple[MixedCall, ...] = ()
    """The same of messages from rank to rank. What the program waits for them is shared among
    their sizes."""
    arrivals: Mapping[str, str] = field(default_factory=dict, hash=False)
    """How late ranks come to collectives: by `arrival_key`, in the kernels' words."""

    @property
    def collectives(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(call.benchmark for call in self.calls))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CallMix:
        """KeyError, TypeError or ValueError: it is none."""
        lists = {}
        for name in ("calls", "messages"):
            lists[name] = tuple(MixedCall(**each) for each in data.get(name, ()))
        return cls(**{**data, **lists})

    def arrival(self, benchmark: str, ranks: int) -> str:
        """How ranks come to it in the program; empty: that is not known."""
        return self.arrivals.get(arrival_key(benchmark, ranks), "")

    def groups(self, benchmark: str) -> tuple[int, ...]:
        """The numbers of ranks among which it is called."""
        return tuple(sorted({call.ranks for call in self.every if call.benchmark == benchmark}))

    @property
    def every(self) -> tuple[MixedCall, ...]:
        """Collectives and messages."""
        return self.calls + self.messages

    def of(self, benchmark: str, ranks: int) -> tuple[MixedCall, ...]:
        """The calls of a benchmark among so many ranks, by size. Of several types of data the one
        that takes most of the time."""
        own = [call for call in self.every if (call.benchmark, call.ranks) == (benchmark, ranks)]
        kind = own[0].datatype, own[0].op
        alike = (call for call in own if (call.datatype, call.op) == kind)
        return tuple(sorted(alike, key=lambda call: call.message_bytes))

    def seconds(self, benchmark: str, ranks: int, message_bytes: int) -> float:
        """What the program spends on calls of about this size; 0: it makes none."""
        fitting = (call for call in self.every if call.has(message_bytes))
        return sum(
            call.seconds for call in fitting if (call.benchmark, call.ranks) == (benchmark, ranks)
        )

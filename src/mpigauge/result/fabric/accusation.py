# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Flows of a measurement of all hosts at once, and the faults that they show."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate
    from mpigauge.result.fabric.rank_sum import Floats, Ints

Kind = Literal[
    "host", "pair", "groups", "uplink", "crossing", "switch", "collision", "stall", "tail"
]
ABOUT: Mapping[Kind, str] = {
    "host": "a host that is slow with all its partners",
    "pair": "two hosts that are slow with each other only",
    "groups": "a slow link between two groups",
    "uplink": "a saturated uplink of a group: slow out of it, not within it",
    "crossing": "slow between groups, whichever they are",
    "switch": "a slow switch, or an unfair one, behind which some hosts are slow, though not alone",
    "collision": "routes that collide: pairs that are slow in one permutation only",
    "stall": "a host or a pair whose short messages take many times as long, as if some were lost",
    "tail": "a host that is often among the slowest, though not slow as a rule",
}


@dataclass(frozen=True)
class Flows:
    """All message streams of a measurement, as four arrays of one length."""

    round: Ints
    """The number of the round; all flows of a round ran at the same time."""
    first: Ints
    second: Ints
    """The places of the two hosts, in either order."""
    bandwidth: Floats
    """Bandwidths in any unit. Flows without a positive one were not measured."""

    @classmethod
    def of_rounds(cls, rounds: Iterable[Iterable[tuple[int, int, float]]]) -> Flows:
        """Flows by round, each as two hosts and a bandwidth."""
        flows = [(number, *flow) for number, of in enumerate(rounds) for flow in of]
        table = np.array(flows, dtype=float).reshape(-1, 4)
        numbers = table[:, :3].astype(np.intp)
        return cls(numbers[:, 0], numbers[:, 1], numbers[:, 2], table[:, 3])

    @cached_property
    def measured(self) -> Flows:
        """The flows that have a bandwidth."""
        return self.only(np.isfinite(self.bandwidth) & (self.bandwidth > 0))

    def only(self, kept: Ints | np.typing.NDArray[np.bool_]) -> Flows:
        """Some of the flows."""
        return Flows(self.round[kept], self.first[kept], self.second[kept], self.bandwidth[kept])


@dataclass(frozen=True)
class Accusation:
    """A fault, and who is to blame for it."""

    kind: Kind
    hosts: tuple[str, ...]
    """The host; the two of a pair; one or two whose messages stall; the hosts of colliding pairs,
    two by two; the slow hosts of an unfair switch; all hosts of a slow switch or of groups."""
    groups: tuple[str, ...]
    """The group, or the two groups; empty: it is not about groups."""
    ratio: Estimate
    """The bandwidth of the others of its rounds relative to its own, with the 95 % interval. Of a
    stall: its time relative to theirs. Of a tail: how many times as often as others it is in the
    slow tail."""
    confidence: float
    """1 less the probability that chance makes any suspect stand out as much."""
    rounds: int
    """The number of rounds that show it."""
    alone: float = math.nan
    """The same ratio where each pair communicates alone; about 1: it is slow beside others only.
    NaN: not measured."""
    permutation: int = -1
    """The first round with the permutation of a collision."""


class Tail(NamedTuple):
    """The part of a host in the slow tail. Flows of faults are left out."""

    host: str
    flows: int
    slow: int
    """The number of its flows that are in the slow tail."""
    expected: float
    """The number of them if it were like all others."""
    p: float
    """The probability of at least as many by chance on any host, were it slower by LEAST_RATIO."""


class UnclearPair(NamedTuple):
    hosts: tuple[str, str]
    ratio: float
    rounds: int
    """The number of rounds that it was in, too few to judge it."""


@dataclass(frozen=True)
class Account:
    """The faults of a measurement."""

    accusations: tuple[Accusation, ...] = ()
    """The faults, the one that explains most first, tails last."""
    tails: tuple[Tail, ...] = ()
    """All hosts, in their order."""
    unclear: tuple[UnclearPair, ...] = ()
    """Pairs among the slowest that were in too few rounds, the slowest first."""
    suspects: int = 0
    """The number of suspects that were judged."""
    why: str = ""
    """The reason why nothing was judged; empty: it was."""

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The step model: the time of a schedule on a calibrated machine.

Steps follow each other in lock-step. A step takes as long as its slowest part:

- a message of n bytes alone takes t(n) of its path, as measured. α(n) = t(n) - n / b is what of it
  does not grow with what others send, b the best rate of messages of n bytes and more: what only
  smaller ones reach comes from a buffer, which many messages fill;
- a network card takes α(n) and the bytes of all messages of its node over its rate, the busier
  way, or those of both ways over what it was measured to send and receive at once; a link of the
  network takes α(n) and its bytes;
- the memory of a node takes α(n) and the bytes of all messages within it over its copy rate;
- a rank that sends or receives k messages takes α(n), k - 1 gaps, and their bytes over b;
- what goes through shared memory takes a flag, and the bytes that a rank reads over b;
- reductions come after the messages, a cost for each byte.

Rounds of the same messages run ahead of each other: a further round takes the mean of t(n) over its
messages, or what the busiest card, link, memory or rank takes for its bytes.

All of it is computed three times: from the values of the calibration, and from both ends of their
intervals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.model.errors import UserError
from mpigauge.model.row import Estimate
from mpigauge.products.predict.calibration import NETWORK, SOCKET, SOCKETS
from mpigauge.products.predict.tables import Ends, Table, ends, over, together

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from mpigauge.products.predict.calibration import Calibration
    from mpigauge.products.predict.network import Network
    from mpigauge.schedules import Step

    Array = NDArray[Any]

LATENCY, CARD, MEMORY, ARITHMETIC, LINKS = (
    "latency", "network card", "node memory", "arithmetic", "network"
)  # fmt: skip
"""The words for what limits a step."""
LIMITS = (LATENCY, CARD, MEMORY, ARITHMETIC, LINKS)
MESSAGE, COPY = "message", "copy"


@dataclass(frozen=True)
class Cost:
    seconds: Ends
    limit: str
    """The word for what took most of it."""
    used: frozenset[str]
    """Names of paths and quantities of the calibration that it derives from."""

    @property
    def estimate(self) -> Estimate:
        value, low, high = self.seconds
        return Estimate(value, min(value, low), max(value, high))


@dataclass(frozen=True)
class Load:
    """The messages of a step on one path: the largest of them, and what they load. Bytes are in
    units of the pattern's weights until `times` gives them a size."""

    path: str
    largest: float
    shared: float
    """Bytes of the busiest network card the busier way, or within the busiest node."""
    both: float
    """Bytes that the busiest network card sends and receives."""
    links: float
    """Bytes of the busiest link of the network."""
    messages: float
    """The messages that the busiest rank sends, or receives."""
    through: float
    """The bytes of these messages."""
    into: float
    """The most bytes that a rank receives."""
    count: float
    """Messages on this path."""

    def times(self, size: float, rounds: int = 1) -> Load:
        """Returns the load with so many bytes for each unit, and so many rounds at once."""
        at_once = size * rounds
        return Load(
            self.path, size * self.largest, at_once * self.shared, at_once * self.both,
            at_once * self.links, rounds * self.messages, at_once * self.through,
            at_once * self.into, rounds * self.count,
        )  # fmt: skip

    def beside(self, other: Load) -> Load:
        """Both at once."""
        mine, theirs = vars(self), vars(other)
        both = {name: mine[name] + theirs[name] for name in mine if name != "path"}
        return Load(**{**both, "path": self.path, "largest": max(self.largest, other.largest)})


@dataclass(frozen=True)
class Machine:
    """A calibrated machine with the ranks of a job: `ppn` of them on each node, one after the
    other."""

    calibration: Calibration
    nodes: int
    ppn: int
    network: Network | None = None

    def __post_init__(self) -> None:
        if self.nodes > 1 and NETWORK not in self.calibration.paths:
            raise UserError(
                f"{self.calibration.name} has no times between nodes ([path.{NETWORK}]); measure "
                "them by `mpigauge run PingPong --place hosts --hosts A,B`, and calibrate again"
            )

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn

    @cached_property
    def tables(self) -> dict[str, Table]:
        return {name: Table.of(path) for name, path in self.calibration.paths.items()}

    @cached_property
    def node_of(self) -> Array:
        return np.arange(self.ranks, dtype=np.int32) // self.ppn

    @cached_property
    def socket_of(self) -> Array:
        """The number of each rank's socket, over all nodes."""
        sockets = self.calibration.sockets
        within = np.arange(self.ranks, dtype=np.int32) % self.ppn * sockets // self.ppn
        return self.node_of * sockets + within

    @cached_property
    def quantities(self) -> dict[str, Ends]:
        """Single numbers, as times are: value, quick, slow. Of a rate the high end is the quick
        one."""
        result = {}
        for name, quantity in self.calibration.quantities.items():
            value, low, high = quantity.value
            low, high = (value if math.isnan(each) else each for each in (low, high))
            is_rate = name in ("network_card", "node_copy")
            result[name] = (value, high, low) if is_rate else (value, low, high)
        return result

    def card(self, nbytes: float) -> Ends:
        """The rate of a network card that carries so many bytes one way, no less than that of one
        message of as many."""
        pair = self.tables[NETWORK].rates(nbytes)
        return ends(map(max, self.quantities["network_card"], pair))

    @cached_property
    def both_ways(self) -> Ends:
        """The bytes per second that a network card sends and receives at once; infinite where it
        was not measured: then one way does not slow the other."""
        if self.calibration.quantities["network_card"].assumed:
            return math.inf, math.inf, math.inf
        return ends(2 * rate for rate in self.quantities["network_card"])

    # --- a schedule -----------------------------------------------------------------------
    def cost(self, steps: Iterable[Step]) -> Cost:
        """The time of a schedule. It is computed without keeping any step."""
        reduction = self.quantities["reduction"]
        total, by_limit, used = [0.0, 0.0, 0.0], dict.fromkeys(LIMITS, 0.0), set[str]()
        for loads, repeat, kind, reduces in self._rounds(steps):
            seconds, limit = self._slowest(loads, kind, used)
            by_limit[limit] += seconds[0]
            if repeat > 1:
                later, limit = self._steady(loads) if kind != COPY else (seconds, limit)
                seconds = ends(s + (repeat - 1) * t for s, t in zip(seconds, later, strict=True))
                by_limit[limit] += (repeat - 1) * later[0]
            reduced = max((load.into for load in loads), default=0.0) if reduces else 0.0
            if reduced:
                used.add("reduction")
            for end in range(3):
                total[end] += seconds[end] + repeat * reduced * reduction[end]
            by_limit[ARITHMETIC] += repeat * reduced * reduction[0]
        limit = max(by_limit, key=lambda name: by_limit[name])
        return Cost((total[0], total[1], total[2]), limit, frozenset(used))

    def _rounds(self, steps: Iterable[Step]) -> Iterator[tuple[Collection[Load], int, str, bool]]:
        """The loads of each step, how often it is repeated, its kind, and whether it reduces.
        Steps that do not wait for each other are one."""
        at_once: dict[str, Load] = {}
        kind, reduces = MESSAGE, False
        for step in steps:
            if at_once and not (step.overlaps and step.kind == kind):
                yield at_once.values(), 1, kind, reduces
                at_once = {}
            kind, reduces = step.kind, step.reduces
            loads = self._loads(step)
            if not step.overlaps:
                yield loads, step.repeat, kind, reduces
                continue
            for load in loads:
                more = load.times(1.0, step.repeat)
                before = at_once.get(load.path)
                at_once[load.path] = before.beside(more) if before else more
        if at_once:
            yield at_once.values(), 1, kind, reduces

    @cached_property
    def memo(self) -> dict[Any, tuple[Load, ...]]:
        """The loads of patterns, which the steps of all sizes share."""
        return {}

    def _loads(self, step: Step) -> list[Load]:
        """The loads of one round of a step, a path each."""
        pattern = step.pattern
        if pattern not in self.memo:
            source, target, weight = pattern.make()
            weights = np.broadcast_to(np.asarray(weight, float), source.shape)
            self.memo[pattern] = tuple(self._of_pattern(source, target, weights))
        most = pattern.most_chunks
        nbytes = -(-most * step.elements // max(step.chunks, 1)) * step.element_bytes
        size = nbytes / most if most else 0.0
        return [load.times(size) for load in self.memo[pattern]]

    def _of_pattern(self, source: Array, target: Array, weights: Array) -> Iterator[Load]:
        start, end = self.node_of[source], self.node_of[target]
        away = start != end
        across = self.socket_of[source] != self.socket_of[target]
        for name, on in ((NETWORK, away), (SOCKET, ~across), (SOCKETS, across & ~away)):
            if on.any():
                yield self._of_path(name, source[on], target[on], weights[on])

    def _of_path(self, path: str, source: Array, target: Array, weights: Array) -> Load:
        start, end = self.node_of[source], self.node_of[target]
        out = np.bincount(start, weights, self.nodes)
        shared, both, links = out.max(), 0.0, 0.0
        if path == NETWORK:
            received = np.bincount(end, weights, self.nodes)
            shared, both = max(shared, received.max()), (out + received).max()
            if self.network:
                links = self.network.busiest(start, end, weights)
        into = np.bincount(target, weights).max()
        through = max(into, np.bincount(source, weights).max())
        messages = max(np.bincount(source).max(), np.bincount(target).max())
        numbers = weights.max(), shared, both, links, messages, through, into, len(source)
        return Load(path, *map(float, numbers))

    # --- a step ---------------------------------------------------------------------------
    def _slowest(self, loads: Iterable[Load], kind: str, used: set[str]) -> tuple[Ends, str]:
        """The time of the slowest part, and what limits it."""
        best: Ends = (0.0, 0.0, 0.0)
        limit = LATENCY
        for load in loads:
            used.add(load.path)
            parts = self._copies(load, used) if kind == COPY else self._messages(load, used)
            for seconds, word in parts:
                if seconds[0] > best[0]:
                    limit = word
                best = max(best[0], seconds[0]), max(best[1], seconds[1]), max(best[2], seconds[2])
        return best, limit

    def _steady(self, loads: Collection[Load]) -> tuple[Ends, str]:
        """The time of a further round of the same messages. A rank goes on when it has its own
        message, so latencies add up along the way of the data, which takes each message in turn:
        their mean counts. What ranks share is as busy as in the first round."""
        count = sum(load.count for load in loads)
        every = [(load, self.tables[load.path]) for load in loads]
        alone = [(load.count / count, table.of_size(load.largest)[0]) for load, table in every]
        parts = [(ends(sum(s * t[end] for s, t in alone) for end in range(3)), LATENCY)]
        for load, table in every:
            word = CARD if load.path == NETWORK else MEMORY
            parts.append((self._carried(load), word))
            if load.links > 0:
                parts.append((over(load.links, self.card(load.links)), LINKS))
            parts.append(
                (together(self._gaps(load), over(load.through, table.rates(load.through))), word)
            )
        limit = max(parts, key=lambda part: part[0][0])[1]
        return ends(max(part[0][end] for part in parts) for end in range(3)), limit

    def _messages(self, load: Load, used: set[str]) -> Iterator[tuple[Ends, str]]:
        table = self.tables[load.path]
        alone, fixed, rates = table.of_size(load.largest)
        word = CARD if load.path == NETWORK else MEMORY
        yield alone, _limit(fixed, over(load.largest, rates), word)
        carried = self._carried(load)
        if load.shared > load.largest or (load.both > load.largest and carried[0] > alone[0]):
            used.add("network_card" if load.path == NETWORK else "node_copy")
            yield together(fixed, carried), _limit(fixed, carried, word)
        if load.links > 0:
            linked = over(load.links, self.card(load.links))
            yield together(fixed, linked), _limit(fixed, linked, LINKS)
        if load.messages > 1:
            used.add("message_gap")
            waits = together(fixed, self._gaps(load))
            through = over(load.through, table.rates(load.through))
            yield together(waits, through), _limit(waits, through, word)

    def _gaps(self, load: Load) -> Ends:
        """The time between the first and the last message of the busiest rank."""
        return ends(max(load.messages - 1, 0) * gap for gap in self.quantities["message_gap"])

    def _carried(self, load: Load) -> Ends:
        """The time that a network card or the memory of a node takes for the bytes of a load."""
        if load.path != NETWORK:
            return over(load.shared, self.quantities["node_copy"])
        one_way = over(load.shared, self.card(load.shared))
        return ends(map(max, one_way, over(load.both, self.both_ways)))

    def _copies(self, load: Load, used: set[str]) -> Iterator[tuple[Ends, str]]:
        """Through shared memory: readers see a flag, and copy what they need themselves."""
        used.add("flag")
        read = over(load.into, self.tables[load.path].rates(load.largest))
        flag = self.quantities["flag"]
        yield together(flag, read), _limit(flag, read, MEMORY)
        if load.shared > load.into:
            used.add("node_copy")
            carried = self._carried(load)
            yield together(flag, carried), _limit(flag, carried, MEMORY)


def _limit(fixed: Ends, carried: Ends, word: str) -> str:
    return word if carried[0] > fixed[0] else LATENCY

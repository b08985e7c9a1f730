# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Algorithms of collectives: their phases, and the steps these make for a number of ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

import numpy as np

from mpigauge.schedules.expression import Expression, Value, evaluate
from mpigauge.schedules.operation import OPERATIONS, Operation
from mpigauge.schedules.phase import (
    LANE,
    NODE_RANKS,
    PIECE,
    RANK,
    RANKS,
    ROUND,
    SEGMENTS,
    Alike,
    Phase,
)
from mpigauge.schedules.step import Array, Blocks, Messages, Pattern, Shape, Step

NODE_RANKS_NEEDED = "ranks-per-node"
MOST_RANGES = 16
"""Ranges of shifts of which one round stands for all."""
MOST_CELLS = 1 << 17
"""The senders, lanes and pieces that are looked through at once, which bounds the memory."""


@dataclass(frozen=True, eq=False)
class Algorithm:
    """A way to do a collective by messages between ranks."""

    operation: str
    name: str
    label: str
    """The name in words."""
    about: str
    """The end of a sentence that begins with the collective "written with messages:"."""
    steps_formula: str
    """The number of consecutive messages on P ranks."""
    phases: tuple[Phase, ...]
    needs: tuple[str, ...] = ()
    """Further inputs that it depends on; `ranks-per-node` is the placement of ranks."""
    swaps_root: bool = False
    """True if the root takes the place of rank 0 and rank 0 that of the root; false: ranks are
    counted from the root."""

    @property
    def full_name(self) -> str:
        """The operation and the name, as in `Allreduce/ring`."""
        return f"{self.operation}/{self.name}"

    @property
    def facts(self) -> Operation:
        """The collective."""
        return OPERATIONS[self.operation]

    def steps(self, shape: Shape) -> Iterator[Step]:
        """Yields the steps for a shape, in order."""
        for phase in self.phases:
            yield from _Rounds(self, phase, shape).steps()

    def cells(self, shape: Shape) -> int:
        """The senders and lanes that all of its patterns together visit: the work of its
        schedule, which this does not do."""
        return sum(_Rounds(self, phase, shape).cells for phase in self.phases)


@dataclass(frozen=True, eq=False)
class _Rounds:
    """The rounds of a phase for one shape."""

    algorithm: Algorithm
    phase: Phase
    shape: Shape

    def steps(self) -> Iterator[Step]:
        for first, repeat, sample in self._ranges():
            pattern = _pattern(
                self.phase, self.algorithm, self.shape.ranks, self.shape.node_ranks,
                self.shape.root, sample,
            )  # fmt: skip
            if pattern.count:
                yield Step(
                    pattern=pattern,
                    elements=self.elements,
                    chunks=self.chunks,
                    element_bytes=self.shape.element_bytes,
                    repeat=repeat,
                    overlaps=self.phase.overlaps,
                    make_blocks=partial(self._blocks, first),
                )

    @property
    def values(self) -> dict[str, Value]:
        return _values(self.shape.ranks, self.shape.node_ranks, {SEGMENTS: self.shape.segments})

    @property
    def chunks(self) -> int:
        return _number(self.phase.chunks, self.values)

    @property
    def elements(self) -> int:
        return self.algorithm.facts.elements(self.shape.ranks, self.shape.elements)

    @property
    def cells(self) -> int:
        scalars = {**self.values, RANK.operator: 0, LANE.operator: 0}
        whole = 0
        for _, _, sample in self._ranges():
            values = {**scalars, ROUND.operator: sample}
            whole += _number(self.phase.senders, values) * _number(self.phase.lanes, values)
        return whole

    def _ranges(self) -> Iterator[tuple[int, int, int]]:
        """Yields the first round, the number of rounds, and the round that stands for them."""
        rounds = _number(self.phase.rounds, self.values)
        if not rounds:
            return
        if self.phase.alike is Alike.NOTHING:
            yield from ((each, 1, each) for each in range(rounds))
        elif self.phase.alike is Alike.PATTERN:
            yield 0, rounds, 0
        elif self.phase.alike is Alike.SHIFT:
            yield from _ranges_of_shifts(rounds, self.shape.node_ranks, self.shape.ranks)

    def _blocks(self, first_round: int, number: int) -> Blocks:
        phase, shape = self.phase, self.shape
        values = {**self.values, ROUND.operator: first_round + number}
        grid = _Grid.of(phase, values, with_pieces=True)
        message = np.cumsum(grid.is_first_piece) - 1
        first = grid.of_each(phase.first)
        into = first if phase.into is None else grid.of_each(phase.into)
        count = grid.of_each(phase.count)
        if self.algorithm.facts.rotates_blocks:
            first = (first + shape.root) % shape.ranks
            into = first
        before_end = np.minimum(count, self.chunks - first)
        rest = count - before_end
        wraps = np.flatnonzero(rest)
        pick = np.concatenate([np.arange(len(first)), wraps])
        order = np.argsort(pick, kind="stable")
        pick = pick[order]
        starts = np.concatenate([first, np.zeros_like(wraps)])[order]
        lands = np.concatenate([into, np.zeros_like(wraps)])[order]
        counts = np.concatenate([before_end, rest[wraps]])[order]
        return Blocks(
            message=message[pick],
            source=self._rank(grid.of_each(RANK))[pick],
            target=self._rank(grid.of_each(phase.to))[pick],
            source_offset=self._offset(starts),
            target_offset=self._offset(lands),
            length=self._offset(starts + counts) - self._offset(starts),
        )

    def _rank(self, rank: Array) -> Array:
        return _rank(self.algorithm, rank, self.shape.ranks, self.shape.root)

    def _offset(self, chunk: Array) -> Array:
        return chunk * self.elements // max(self.chunks, 1) * self.shape.element_bytes


@dataclass(frozen=True, eq=False)
class _Grid:
    """All messages (or pieces of them) of a round, with the parts of expressions known so far."""

    values: Mapping[str, Value]
    """Values of symbols; rank, lane and piece have one for each message or piece."""
    memo: dict[Expression, Value]
    pieces: int
    picked: Array
    """The numbers of the used ones among all senders, lanes and pieces."""

    @classmethod
    def of(cls, phase: Phase, values: Mapping[str, Value], with_pieces: bool = False) -> _Grid:
        scalars = {**values, RANK.operator: 0, LANE.operator: 0, PIECE.operator: 0}
        senders = _number(phase.senders, scalars)
        lanes = _number(phase.lanes, scalars)
        pieces = _number(phase.pieces, scalars) if with_pieces else 1
        uses = (phase.when, phase.piece_when) if with_pieces else (phase.when,)
        of_sender = max(lanes * pieces, 1)
        at_once = max(MOST_CELLS // of_sender, 1)
        parts = [
            start * of_sender
            + _used(uses, values, (start, min(start + at_once, senders)), lanes, pieces)
            for start in range(0, senders, at_once)
        ]
        picked = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        every = {
            **values,
            RANK.operator: picked // of_sender,
            LANE.operator: picked // pieces % max(lanes, 1),
            PIECE.operator: picked % pieces,
        }
        return cls(every, {}, pieces, picked)

    def of_each(self, expression: Expression) -> Array:
        """The value of an expression for each message or piece."""
        value = np.asarray(evaluate(expression, self.values, self.memo))
        return np.broadcast_to(value, self.picked.shape).astype(np.int64)

    @property
    def is_first_piece(self) -> Array:
        """1 for the first piece of each message, 0 for its others."""
        message = self.picked // self.pieces
        return np.asarray(np.diff(message, prepend=-1) != 0, dtype=np.int64)


def _used(
    uses: tuple[Expression, ...],
    values: Mapping[str, Value],
    senders: tuple[int, int],
    lanes: int,
    pieces: int,
) -> Array:
    """The numbers of those for which all of these are true, counted from the first sender."""
    every = {
        **values,
        RANK.operator: np.arange(*senders, dtype=np.int64)[:, None, None],
        LANE.operator: np.arange(lanes, dtype=np.int64)[None, :, None],
        PIECE.operator: np.arange(pieces, dtype=np.int64)[None, None, :],
    }
    memo: dict[Expression, Value] = {}
    is_used = np.ones((senders[1] - senders[0], lanes, pieces), dtype=bool)
    for use in uses:
        is_used &= np.asarray(evaluate(use, every, memo)) != 0
    return np.flatnonzero(is_used)


def _values(ranks: int, node_ranks: int, more: Mapping[Expression, int]) -> dict[str, Value]:
    values: dict[str, Value] = {RANKS.operator: ranks, NODE_RANKS.operator: node_ranks}
    return {**values, **{name.operator: value for name, value in more.items()}}


def _number(expression: Expression, values: Mapping[str, Value]) -> int:
    return int(evaluate(expression, values, {}))


def _rank(algorithm: Algorithm, rank: Array, ranks: int, root: int) -> Array:
    """The ranks of those that are counted from the root."""
    if not root:
        return rank
    if algorithm.swaps_root:
        return np.where(rank == 0, root, np.where(rank == root, 0, rank))
    return (rank + root) % ranks


@lru_cache(maxsize=1 << 16)
def _pattern(
    phase: Phase, algorithm: Algorithm, ranks: int, node_ranks: int, root: int, round_number: int
) -> Pattern:
    make = partial(_messages, phase, algorithm, ranks, node_ranks, root, round_number)
    return Pattern(make, phase.reduces, phase.kind)


@lru_cache(maxsize=1)
def _messages(
    phase: Phase, algorithm: Algorithm, ranks: int, node_ranks: int, root: int, round_number: int
) -> Messages:
    grid = _Grid.of(phase, _values(ranks, node_ranks, {ROUND: round_number}))
    weight = grid.of_each(phase.weight or phase.count)
    is_even = not len(weight) or bool((weight == weight[0]).all())
    return Messages(
        source=_rank(algorithm, grid.of_each(RANK), ranks, root),
        target=_rank(algorithm, grid.of_each(phase.to), ranks, root),
        weight=int(weight[0]) if is_even and len(weight) else weight,
    )


def _ranges_of_shifts(rounds: int, node_ranks: int, ranks: int) -> Iterator[tuple[int, int, int]]:
    """Yields ranges of rounds whose messages load all nodes alike, for messages at distance
    round + 1. Those between `node_ranks` and `ranks - node_ranks` all leave their node."""
    if node_ranks >= ranks:
        yield 0, rounds, 0
        return
    near = min(node_ranks - 1, rounds)
    far = max(ranks - node_ranks, near)
    yield from ((each, 1, each) for each in range(near))
    edges = sorted({near + (far - near) * each // MOST_RANGES for each in range(MOST_RANGES + 1)})
    for first, end in pairwise(edges):
        yield first, end - first, (first + end) // 2
    yield from ((each, 1, each) for each in range(far, rounds))

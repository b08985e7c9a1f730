# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Each algorithm of each collective does what the collective does, on every number of ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mpigauge.model.errors import UserError
from mpigauge.schedules import (
    ALGORITHMS,
    OPERATIONS,
    Algorithm,
    Blocks,
    Shape,
    Step,
    algorithms_of,
    find,
)

MOST_RANKS = 70
EVERY = [pytest.param(each, id=name) for name, each in ALGORITHMS.items()]


def shapes(algorithm: Algorithm, most_ranks: int = 24) -> Iterator[Shape]:
    """Every number of ranks with one other root, size and node each, and corners of some."""
    most = 7 if algorithm.facts.has_block_per_rank else 53
    for ranks in range(1, most_ranks + 1):
        yield Shape(
            ranks=ranks,
            message_bytes=(ranks * 5) % most,
            root=(ranks * 5 + 3) % ranks if algorithm.facts.has_root else 0,
            ranks_per_node=ranks % 8 + 1,
            segment_bytes=ranks % 5 + 1,
        )
    for ranks, node in ((8, 4), (12, 4), (9, 8), (33, 32), (64, 1), (16, 16), (7, 2)):
        yield Shape(ranks, 96, 8, ranks_per_node=node, segment_bytes=16)
        yield Shape(ranks, 8, 8, root=0, ranks_per_node=node)


@dataclass
class Vectors:
    """What the vectors of all ranks hold: how often each element is of each rank and place.

    An element is a row: for a reduction a count for each rank that contributes to it, for others a
    single number that says which element of which rank it is, or -1.
    """

    held: NDArray[np.integer[Any]]

    def apply(self, blocks: Blocks, reduces: bool, may_conflict: bool) -> None:
        """Sends all pieces of one round at the same time."""
        piece = np.repeat(np.arange(len(blocks.length)), blocks.length)
        place = np.arange(len(piece)) - np.repeat(
            np.cumsum(blocks.length) - blocks.length, blocks.length
        )
        source = (blocks.source[piece], blocks.source_offset[piece] + place)
        target = (blocks.target[piece], blocks.target_offset[piece] + place)
        sent = self.held[source]
        assert (sent >= 0).all(), "a rank sends what it does not hold"
        if not may_conflict and not reduces:
            size = self.held.shape[1]
            read = source[0] * size + source[1]
            written = target[0] * size + target[1]
            assert not np.isin(written, read).any(), "a round overwrites what it sends"
            assert len(np.unique(written)) == len(written), "two messages to one place"
        if reduces:
            np.add.at(self.held, target, sent)
        else:
            self.held[target] = sent


def has_pieces(blocks: Blocks) -> bool:
    """True if a message has several pieces, so that it is packed before it is sent."""
    return len(np.unique(blocks.message)) < len(blocks.message)


def start(operation: str, shape: Shape) -> Vectors:
    """Returns the vectors before the collective. An element of a transfer is numbered by its rank
    and its place."""
    ranks, size = shape.ranks, shape.message_bytes
    total = OPERATIONS[operation].elements(ranks, size)
    if OPERATIONS[operation].reduces:
        held = np.zeros((ranks, total, ranks), dtype=np.int16)
        held[np.arange(ranks), :, np.arange(ranks)] = 1
        return Vectors(held)
    held = np.full((ranks, total), -1, dtype=np.int64)
    every = np.arange(ranks * total).reshape(ranks, total)
    if operation in {"Bcast", "Scatter"}:
        held[shape.root] = every[shape.root]
    if operation in {"Allgather", "Gather"}:
        for rank in range(ranks):
            own = slice(rank * size, (rank + 1) * size)
            held[rank, own] = every[rank, own]
    if operation == "Alltoall":
        for rank in range(ranks):
            held[rank, : ranks * size] = every[rank, : ranks * size]
            own = slice(rank * size, (rank + 1) * size)
            held[rank, ranks * size :][own] = every[rank, own]
    return Vectors(held)


@dataclass
class After:
    """What the collective made of the vectors, piece by piece."""

    first: NDArray[Any]
    last: NDArray[Any]
    shape: Shape

    def block(self, rank: int) -> slice:
        return slice(rank * self.shape.message_bytes, (rank + 1) * self.shape.message_bytes)

    def gathered(self) -> NDArray[Any]:
        every = range(self.shape.ranks)
        return np.concatenate([self.first[rank, self.block(rank)] for rank in every])

    def own_blocks(self, vectors: NDArray[Any]) -> NDArray[Any]:
        every = range(self.shape.ranks)
        return np.array([vectors[rank, self.block(rank)] for rank in every])

    def exchanged(self, vectors: NDArray[Any], space: int) -> NDArray[Any]:
        ranks, size = self.shape.ranks, self.shape.message_bytes
        start = space * ranks * size
        return vectors[:, start : start + ranks * size].reshape(ranks, ranks, size)


RESULTS: dict[str, Callable[[After], tuple[NDArray[Any], object]]] = {
    "Allgather": lambda a: (a.last, a.gathered()),
    "Allreduce": lambda a: (a.last, 1),
    "Alltoall": lambda a: (a.exchanged(a.last, 1), a.exchanged(a.first, 0).transpose(1, 0, 2)),
    "Barrier": lambda a: (a.last, a.last),
    "Bcast": lambda a: (a.last, a.first[a.shape.root]),
    "Gather": lambda a: (a.last[a.shape.root], a.gathered()),
    "Reduce": lambda a: (a.last[a.shape.root], 1),
    "Reduce_scatter": lambda a: (a.own_blocks(a.last), 1),
    "Scatter": lambda a: (
        a.own_blocks(a.last).reshape(-1),
        a.first[a.shape.root, : a.shape.ranks * a.shape.message_bytes],
    ),
}
"""The vectors that each collective has to make, and what they have to hold."""


def rounds(step: Step) -> Iterator[Blocks]:
    return (step.blocks(each) for each in range(step.repeat))


@pytest.mark.parametrize("algorithm", EVERY)
def test_the_blocks_of_a_schedule_do_what_the_collective_does(algorithm: Algorithm) -> None:
    for shape in shapes(algorithm, MOST_RANKS):
        in_bytes = Shape(
            shape.ranks, shape.elements, 1, shape.root, shape.ranks_per_node,
            max(shape.segment_bytes // shape.element_bytes, 1),
        )  # fmt: skip
        vectors, before = (start(algorithm.operation, in_bytes) for _ in range(2))
        for step in algorithm.steps(in_bytes):
            if step.overlaps:
                vectors.apply(_together(list(rounds(step))), step.reduces, may_conflict=False)
                continue
            for blocks in rounds(step):
                vectors.apply(blocks, step.reduces, may_conflict=has_pieces(blocks))
        got, expected = RESULTS[algorithm.operation](After(before.held, vectors.held, in_bytes))
        assert (got == expected).all()


def _together(all_blocks: list[Blocks]) -> Blocks:
    names = ("message", "source", "target", "source_offset", "target_offset", "length")
    return Blocks(*(np.concatenate([getattr(each, name) for each in all_blocks]) for name in names))


@pytest.mark.parametrize("algorithm", EVERY)
def test_a_signal_of_every_rank_comes_to_all_that_wait_for_it(algorithm: Algorithm) -> None:
    """What counts for a barrier holds for each collective: nobody is done before those it
    depends on have begun."""
    for shape in shapes(algorithm):
        knows = np.eye(shape.ranks, dtype=bool)
        for step in algorithm.steps(shape):
            for blocks in rounds(step):
                before = knows.copy()
                for source, target in zip(blocks.source, blocks.target, strict=True):
                    assert source != target
                    knows[target] |= before[source]
        facts = algorithm.facts
        if not facts.has_root:
            assert knows.all()
        elif algorithm.operation in {"Gather", "Reduce"}:
            assert knows[shape.root].all()
        else:
            assert knows[:, shape.root].all()


@pytest.mark.parametrize("algorithm", EVERY)
def test_steps_have_the_messages_and_the_bytes_of_their_rounds(algorithm: Algorithm) -> None:
    for shape in shapes(algorithm):
        for step in algorithm.steps(shape):
            nbytes = np.broadcast_to(np.asarray(step.nbytes), step.source.shape)
            for blocks in rounds(step):
                exact = np.zeros(len(step.source), dtype=np.int64)
                np.add.at(exact, blocks.message, blocks.length)
                assert len(exact) == len(step.source)
                is_ragged = algorithm.full_name == "Allgather/hierarchical"
                if is_ragged and shape.ranks % shape.node_ranks:
                    assert (exact <= nbytes.max()).all()
                    continue
                assert (exact <= nbytes).all()
                pieces = np.bincount(blocks.message, minlength=len(exact))
                assert (nbytes - exact <= shape.element_bytes * pieces).all()


@pytest.mark.parametrize("algorithm", EVERY)
def test_the_pattern_of_rounds_that_are_one_step_is_the_same(algorithm: Algorithm) -> None:
    """On one node a shift stands for all; else each node gets and sends as much in all rounds."""
    for shape in shapes(algorithm):
        if shape.ranks % shape.node_ranks:
            continue
        for step in algorithm.steps(shape):
            for blocks in rounds(step):
                _, first_pieces = np.unique(blocks.message, return_index=True)
                assert _loads(
                    blocks.source[first_pieces], blocks.target[first_pieces], shape
                ) == _loads(step.source, step.target, shape)


def _loads(source: NDArray[np.int64], target: NDArray[np.int64], shape: Shape) -> list[list[int]]:
    """How many messages leave each node, come to it, and stay in it."""
    nodes = -(-shape.ranks // shape.node_ranks)
    out, into = source // shape.node_ranks, target // shape.node_ranks
    counts = [
        np.bincount(out[out != into], minlength=nodes),
        np.bincount(into[out != into], minlength=nodes),
        np.bincount(out[out == into], minlength=nodes),
    ]
    return [each.tolist() for each in counts]


def test_a_step_without_messages_is_left_out() -> None:
    for algorithm in ALGORITHMS.values():
        assert list(algorithm.steps(Shape(1, 64, 8))) == []


def test_every_collective_has_algorithms() -> None:
    assert all(algorithms_of(each) for each in OPERATIONS)
    assert {each.operation for each in ALGORITHMS.values()} == set(OPERATIONS)


def test_patterns_are_kept_for_all_sizes() -> None:
    for algorithm in ALGORITHMS.values():
        small, large = (
            [step.pattern for step in algorithm.steps(Shape(96, size, 8, ranks_per_node=8))]
            for size in (8, 1 << 20)
        )
        assert small
        assert all(a is b for a, b in zip(small, large, strict=True))


def test_a_ring_of_many_ranks_is_a_step_for_each_direction() -> None:
    steps = list(find("Allreduce/ring").steps(Shape(10240, 8, 8, ranks_per_node=32)))
    assert [step.repeat for step in steps] == [10239, 10239]
    assert [step.reduces for step in steps] == [True, False]


def test_only_shifts_within_nodes_are_steps_of_their_own() -> None:
    steps = list(find("Alltoall/pairwise").steps(Shape(10240, 8, 8, ranks_per_node=32)))
    assert sum(step.repeat for step in steps) == 10239
    assert len(steps) < 100


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match="Allreduce/ring"):
        find("Allreduce/rinq")
    with pytest.raises(UserError, match="Allreduce"):
        algorithms_of("Allreduc")


def test_rounds_are_counted_within_their_step() -> None:
    step = next(find("Allreduce/ring").steps(Shape(4, 8)))
    with pytest.raises(IndexError):
        step.blocks(3)

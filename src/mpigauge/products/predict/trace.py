# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Schedules as traces in the format of SimGrid's replay: a file of actions for each rank.

A rank posts all messages of a round, waits for its own, and reduces. Copies through shared memory
are messages within a node there. A reduction is as many floating-point operations as take its time
on a host of HOST_FLOPS a second. Empty messages are left out, unless all of them are empty: with
few elements most ranks of a large job have nothing to send in many rounds.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from mpigauge.model.errors import UserError
from mpigauge.products.predict.prediction import steps_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from mpigauge.products.predict.prediction import Prediction
    from mpigauge.schedules import Step

HOST_FLOPS = 1e9
MOST_MESSAGES = 20_000_000
INDEX = "ranks.txt"
"""The file that names those of the ranks, which `smpirun -replay` takes."""


def write_traces(of: Prediction, folder: Path) -> list[Path]:
    """The folder of the trace of each size: its chosen schedule. UserError: it has too many
    messages."""
    folders = []
    for size in of.sizes:
        if size.chosen is None:
            raise UserError(f"--trace: there is no schedule of {size.choice}; leave out --library")
        at = folder / str(size.message_bytes)
        steps = list(steps_of(of.machine, size.chosen.algorithm, of.operation, size.message_bytes))
        _check(steps, f"{of.operation}/{size.chosen.algorithm}")
        nanoseconds = of.calibration.quantities["reduction"].value.value * 1e9
        write_trace(at, of.machine.ranks, steps, nanoseconds)
        folders.append(at)
    return folders


def _check(steps: Sequence[Step], name: str) -> None:
    messages = sum(len(step.source) * step.repeat for step in steps)
    if messages > MOST_MESSAGES:
        raise UserError(
            f"--trace: {name} sends {messages} messages, and a trace has {MOST_MESSAGES} at most; "
            "take fewer nodes, or other sizes"
        )


def write_trace(
    folder: Path, ranks: int, steps: Iterable[Step], reduction_ns: float, repeat: int = 1
) -> Path:
    """The index of a trace with the schedule, that many times one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    once = _actions(list(steps), reduction_ns)
    names = []
    for rank in range(ranks):
        name = folder / f"{rank}.txt"
        lines = [f"{rank} init", *(once.get(rank, []) * repeat), f"{rank} finalize"]
        name.write_text("\n".join(lines) + "\n", encoding="ascii")
        names.append(str(name))
    index = folder / INDEX
    index.write_text("\n".join(names) + "\n", encoding="utf-8")
    return index


def _actions(steps: Sequence[Step], reduction_ns: float) -> dict[int, list[str]]:
    """The actions of each rank."""
    actions: dict[int, list[str]] = defaultdict(list)
    posted: dict[int, float] = {}
    """The bytes that ranks reduce before they go on, by rank; ranks of a round that is open."""
    for place, step in enumerate(steps):
        follows = place + 1 < len(steps) and steps[place + 1].overlaps and step.overlaps
        for number in range(step.repeat):
            for source, target, length in _messages(step, number):
                actions[target].append(f"{target} irecv {source} 0 {length}")
                actions[source].append(f"{source} isend {target} 0 {length}")
                posted.setdefault(source, 0.0)
                posted[target] = posted.get(target, 0.0) + (length if step.reduces else 0)
            is_last = number + 1 == step.repeat and not follows
            if is_last or not step.overlaps:
                _close(actions, posted, reduction_ns)
    return actions


def _close(actions: dict[int, list[str]], posted: dict[int, float], reduction_ns: float) -> None:
    for rank, reduced in posted.items():
        actions[rank].append(f"{rank} waitall")
        if flops := round(reduced * reduction_ns * 1e-9 * HOST_FLOPS):
            actions[rank].append(f"{rank} compute {flops}")
    posted.clear()


def _messages(step: Step, number: int) -> Iterator[tuple[int, int, int]]:
    """Yields source, target and bytes of each message of a round that carries data; of a barrier,
    of all messages."""
    blocks = step.blocks(number)
    lengths = np.bincount(blocks.message, blocks.length).astype(np.int64)
    first = np.unique(blocks.message, return_index=True)[1]
    if step.elements:
        first, lengths = first[lengths > 0], lengths[lengths > 0]
    pairs = blocks.source[first].tolist(), blocks.target[first].tolist()
    yield from zip(*pairs, lengths.tolist(), strict=True)

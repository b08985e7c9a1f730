# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Whatever was left out of a value: in every format the columns of a row are in order, as they are
of the same samples. Disturbed chunks take up to thirty times as long here."""

from __future__ import annotations

import csv
import io
import json
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.model.record import Chunk, Raw
from mpigauge.result.document import document
from mpigauge.result.stats.recompute import recompute
from mpigauge.show.formats import render
from tests import planted
from tests.cells import cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.columns import Cell

LAUNCHES = 3
SIZES = (8, 64, 4096, 1 << 20)
Columns = tuple[float, float, float]
"""Fastest rank, mean, slowest."""


def launch(number: int, size: int, share: float, chance: random.Random) -> Cell:
    """Three ranks; so many of the chunks are disturbed."""
    raw, ticks = measured(share, chance)
    times = recompute(raw, ticks, calls=1)
    tainted = sum(chunk.taint != 0 for chunk in raw.chunks) / len(raw.chunks)
    return cell(
        "Allreduce", launch=number, message_bytes=size, ranks=3, sync="clock",
        tainted_ratio=tainted, **times,
    )  # fmt: skip


def measured(share: float, chance: random.Random) -> tuple[Raw, np.ndarray]:
    chunks, samples = [], []
    for number in range(chance.randint(6, 40)):
        disturbed = chance.random() < share
        lost = 30 * chance.random() if disturbed else 1
        own = [sorted(lost * chance.lognormvariate(7, 0.3) for _ in range(3)) for _ in range(5)]
        chunks.append(Chunk(number + 1, int(disturbed), len(own)))
        samples += [(ranks[2], ranks[0], sum(ranks) / 3) for ranks in own]
    return Raw(hz=1e9, chunks=tuple(chunks)), np.array(samples).T.astype(np.uint32)


def cells(share: float, seed: int) -> list[Cell]:
    chance = random.Random(seed)
    return [launch(number, size, share, chance) for number in range(LAUNCHES) for size in SIZES]


def in_table(text: str) -> Iterator[Columns]:
    lines = [line.split() for line in text.splitlines()]
    heads = next(line for line in lines if line[:1] == ["bytes"])
    names = " ".join(heads).replace(" µs", "_µs").split()
    for line in lines:
        if len(line) > 2 and line[1] in ("B", "KiB", "MiB"):
            of = dict(zip(names, [" ".join(line[:2]), *_joined(line[2:])], strict=False))
            yield float(of["min_µs"]), float(of["avg_µs"]), float(of["max_µs"])


def _joined(words: Sequence[str]) -> list[str]:
    """±1.0 % is one column, and so is ± unknown."""
    text = " ".join(words).replace(" %", "%").replace("± unknown", "±unknown")
    return text.split()


def in_imb(text: str) -> Iterator[Columns]:
    for line in text.splitlines():
        words = line.split()
        if len(words) == 5 and words[0].isdigit():
            least, most, mean = map(float, words[2:])
            yield least, mean, most


def in_csv(text: str) -> Iterator[Columns]:
    for row in csv.DictReader(io.StringIO(text)):
        yield float(row["time_min_s"]), float(row["time_avg_s"]), float(row["time_max_s"])
        assert row["time_max_s"] == row["time_p50_s"]


def in_json(text: str) -> Iterator[Columns]:
    for row in json.loads(text)["rows"]:
        yield row["time_min_s"], row["time_avg_s"], row["time_max_s"]
        assert row["time_max_s"] == row["time_p50_s"]


READ = {"table": in_table, "imb": in_imb, "csv": in_csv, "json": in_json}


@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 0.95])
@pytest.mark.parametrize("form", READ)
def test_columns_are_in_order(form: str, share: float) -> None:
    for seed in range(10):
        run = planted.run(cells(share, seed))
        found = list(READ[form](render(form, document(run))))
        assert len(found) == len(SIZES)
        assert all(least <= mean <= most for least, mean, most in found), found

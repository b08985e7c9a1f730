# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a map of very many ranks takes: counted in records and bytes, never in seconds."""

from __future__ import annotations

import json
import math
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from mpigauge.model.pair_block import pairs_of_round
from mpigauge.result import large_map
from mpigauge.result.large_map import load_map
from mpigauge.runs.store.pair_times import read_pairs
from mpigauge.show.formats import render
from tests import scale

if TYPE_CHECKING:
    from pathlib import Path

MOST_RECORD_BYTES = 2e9
MOST_BYTES_OF_A_PAIR = 60.0


def test_all_pairs_of_ten_thousand_ranks_are_less_than_two_gigabytes_of_records() -> None:
    ranks = 10_000
    rounds = ranks - 1
    of_round = sum(len(scale.block_line(ranks, 5, size)) + 1 for size in scale.SIZES)
    assert rounds * of_round < MOST_RECORD_BYTES


def test_records_grow_with_rounds_and_not_with_pairs() -> None:
    """A block has a record, and a pair in it some bytes, at any number of ranks."""
    for ranks in (1024, 4096, 10_000):
        line = scale.block_line(ranks, 1, 8)
        assert len(line) / len(pairs_of_round(1, ranks)) < MOST_BYTES_OF_A_PAIR
        assert "\n" not in line


@pytest.mark.parametrize(("ranks", "step"), [(1024, 632), (4096, 2528)])
def test_a_few_rounds_of_pairs_show_the_slow_host(
    tmp_path: Path, ranks: int, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_map, "LARGE_BYTES", 0)
    slow = 3
    rounds = [place * step % (ranks - 1) for place in range(12)]  # as kernels choose them
    folder = scale.store_map(tmp_path / "map", ranks, rounds, slow_host=slow)
    stored = load_map(folder)
    assert stored is not None
    assert not stored.run.damaged
    sheet = stored.document.pairs.sheets[0] if stored.document.pairs else None
    assert sheet is not None
    odd = {each.rank // scale.CORES for each in sheet.odd_ranks}
    assert odd == {slow}  # and nobody else
    assert len(sheet.odd_ranks) == scale.CORES
    assert "n3" in render("map", stored.document)


def test_a_round_with_one_sample_of_each_pair_has_no_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_map, "LARGE_BYTES", 0)
    folder = scale.store_map(tmp_path / "map", 256, [1], slow_host=3)
    file = folder / "records.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        for name in ("ci_low_s", "ci_high_s") if line["record"] == "pairs" else ():
            del line["columns"][name]
            line["shared"][name] = None
    texts = [json.dumps(line, separators=(",", ":")) for line in lines]
    file.write_text("\n".join(texts) + "\n", encoding="utf-8")
    stored = load_map(folder)
    assert stored is not None
    assert stored.document.pairs
    latencies = [row.latency for row in stored.document.pairs.sheets[0].rows.values()]
    assert len(latencies) == 128
    assert all(math.isnan(each.low) and each.value > 0 for each in latencies)
    assert "PingPong" in render("map", stored.document)


def test_memory_of_a_map_grows_with_its_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice as many ranks in as many rounds take twice the memory, not four times."""
    monkeypatch.setattr(large_map, "LARGE_BYTES", 0)
    taken = []
    for ranks in (512, 1024):
        folder = scale.store_map(tmp_path / str(ranks), ranks, (5, 300))
        tracemalloc.start()
        stored = read_pairs(folder / "records.jsonl")
        taken.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert stored is not None
        assert sum(len(kind.times) for kind in stored.kinds) == 2 * 2 * ranks // 2
    assert taken[1] < 2.5 * taken[0]


def test_of_too_many_pairs_some_rounds_and_the_slowest_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks, rounds = 512, range(8)
    folder = scale.store_map(tmp_path / "map", ranks, rounds, slow_host=1)
    monkeypatch.setattr("mpigauge.runs.store.pair_times.MOST_TIMES", 511 * 256 // 4)
    stored = read_pairs(folder / "records.jsonl")
    assert stored is not None
    for kind in stored.kinds:
        assert len(kind.times) == 2 * 256 + 6  # rounds 0 and 4, and a pair of each other one
        slowest = max(kind.times, key=lambda each: each.time_s)
        assert 1 in (slowest.first // scale.CORES, slowest.second // scale.CORES)

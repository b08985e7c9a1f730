# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Whatever is read, of readers, plans, hosts, machines, runs and packs, may be damaged in any way.

As many as one wants: `python bench/fuzz.py --texts 200000 --programs 2000`.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpigauge.runs.readers import READERS
from tests.fuzzing import (
    FILLERS,
    LARGE,
    MOST_TIMES,
    complaint,
    damaged,
    pumped,
    slowness,
    targets,
    usual_seconds,
)

if TYPE_CHECKING:
    from pathlib import Path

NAMES = list(targets())
TEXTS = 20
"""The number of random texts that each of them reads in search of a slow one."""
FOUND = {
    "limits": (b'tolerance = "5%"\n' + b" " * LARGE + b'\nbenchmark = "PingPong"\n',),
    "record of a machine": (
        b"sys/kernel/mm/transparent_hugepage/enabled\t" + b"[" * LARGE + b"\n",
    ),
}
"""Texts that bench/fuzz.py found to be slow, shortened."""


def test_every_reader_is_among_them() -> None:
    assert set(READERS) <= set(NAMES)
    assert all(target.examples and target.large for target in targets().values())


@pytest.mark.parametrize("name", NAMES)
def test_whole_texts_are_read(name: str, tmp_path: Path) -> None:
    target = targets()[name]
    for text in (*target.examples, *target.large):
        target.read(text, tmp_path)
    sizes = [len(text) for text in target.large]
    assert LARGE / 2 < min(sizes) <= max(sizes) < 2 * LARGE


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(chance=st.randoms(use_true_random=False))
def test_no_damage_raises_what_is_not_ours(
    tmp_path_factory: pytest.TempPathFactory, name: str, chance: random.Random
) -> None:
    target = targets()[name]
    text = damaged(chance.choice(target.examples), chance, target.examples)
    assert complaint(target, text, tmp_path_factory.getbasetemp()) == ""


@pytest.mark.parametrize("name", NAMES)
def test_no_text_takes_much_longer_than_a_valid_one(name: str, tmp_path: Path) -> None:
    """Times of the same process, each the best of several: a busy machine changes nothing."""
    target, chance = targets()[name], random.Random(name)
    usual = usual_seconds(target, tmp_path)
    example = target.examples[0]
    texts = [filler * (LARGE // len(filler)) + example[:4096] for filler in FILLERS]
    texts += [pumped(chance.choice(target.examples), chance) for _ in range(TEXTS)]
    texts += FOUND.get(name, ())
    for text in texts:
        assert complaint(target, text, tmp_path) == ""
        assert slowness(target, text, tmp_path, usual) <= MOST_TIMES, text[:2000]

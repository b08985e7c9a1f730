# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Rows in which a program prints nan or inf in the place of a number: only they are left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpigauge.runs.readers import READERS, Text

PRINTED = Path(__file__).parents[3] / "golden/printed"
ROWS = {
    "babelstream": ("babelstream", r"^Copy +(\S+)"),
    "gpcnet": ("gpcnet", r"^\| +RR Get Lat \(8 B\) \| +(\S+)"),
    "hp2p": ("hp2p", r"^ Avg latency +: (\S+)"),
    "hpl": ("hpl-variants", r"^WC0 +90112 .* (\S+e[+]\d+)"),
    "imb": ("ompi-MPI1-band-np2", r"^ +4 +\d+ +(\S+)"),
    "ipm": ("ipm", r"^# MPI +: +(\S+)"),
    "mpigraph": ("mpigraph", r"^n2:1 to\t(\S+)"),
    "mpi_latency": ("mpi-latency", r"Avg round trip time = (\d+)"),
    "mpip": ("ember-mpip-report", r"^ +1 +(\S+) +\S+ +\S+$"),
    "nccl_tests": ("nccl-tests", r"^ +8 .* -1 +(\S+)"),
    "nodeperf": ("ulysses-nodeperf-gcc", r"\*\*(\d+\.\d+)\*\*"),
    "osu": ("osu", r"^2 +(\S+)"),
    "perfcatcher": ("ember-perfcatch-report", r"^  recv +calls: +\d+ +time: +(\S+) s"),
    "perftest": ("perftest", r"^ 65536 +5000 +(\S+)"),
    "ping_pong": ("ember-pingpong-fit-12-13", r"^ +2000\. +(\S+)"),
    "reprompi": ("reprompi", r"^ +MPI_Allreduce +1 +1 +(\S+)"),
    "talp": ("talp", r'^ +"mpiTime": (\d+)'),
    "stream": ("ember-stream-local", r"^Triad: +\S+ +(\S+)"),
}
"""By reader: a text, and a number of one of its rows."""
MOST_OF_A_ROW = 6
"""Figures that one line becomes."""


def test_each_reader_has_a_row() -> None:
    assert set(ROWS) == set(READERS)


@pytest.mark.parametrize("word", ["nan", "-inf"])
@pytest.mark.parametrize("name", ROWS)
def test_a_row_without_a_number_is_named_and_all_others_are_kept(name: str, word: str) -> None:
    file, pattern = ROWS[name]
    text = (PRINTED / f"{file}.txt").read_text(encoding="utf-8")
    found = re.search(pattern, text, re.MULTILINE)
    assert found
    read = READERS.find(name).read
    whole = read(Text(text.encode()))
    damaged = read(Text((text[: found.start(1)] + word + text[found.end(1) :]).encode()))
    line = 1 + text.count("\n", 0, found.start(1))
    reasons = [each.why for each in damaged.unread if each.line == line]
    reasons += [skip.reason for skip in damaged.skips[len(whole.skips) :]]  # IMB's have their size
    (why,) = reasons
    assert word in why.split()
    assert len(damaged.unread) + len(damaged.skips) == len(whole.unread) + len(whole.skips) + 1
    assert 0 <= whole.rows - damaged.rows <= MOST_OF_A_ROW

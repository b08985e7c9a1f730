# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Fresh data: every benchmark that has some sends the right ones, and new ones in each call."""

from __future__ import annotations

import math

import pytest

from tests.cases.every_cell import may_be_skipped, run_all
from tests.cases.launching import ROUGH, run, site

pytestmark = pytest.mark.mpi

FEW_CALLS = 1 << 16
"""A size that IMB repeats less than 1000 times, so that the first round calls once."""


@pytest.mark.parametrize("spec", ["mpich", "openmpi"])
def test_every_benchmark_is_right_with_fresh_data(spec: str) -> None:
    where = site(spec)
    cards = [card for card in where.cards if card.suite != "SELFTEST" and not card.why_static]
    assert {card.suite for card in cards} == {
        "MPI1", "NBC", "MPI4", "MT", "P2P", "HALO", "MORE", "ALG", "FABRIC",
    }  # fmt: skip
    words = ("--data", "fresh", "--sizes", FEW_CALLS)
    ended = run_all(where, 2, ",".join(card.word for card in cards), *words)
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {cell.data for cell in ended.cells} == {"fresh"}
    assert all(cell.time_write_s > 0 for cell in ended.cells)
    measured = {(cell.suite, cell.benchmark) for cell in ended.cells}
    reasons = {(skip.key["suite"], skip.key["benchmark"]): skip.reason for skip in ended.skips}
    for card in cards:
        key = card.suite, card.name
        assert key in measured or may_be_skipped(card, 2, reasons[key])


@pytest.mark.parametrize("spec", ["mpich", "openmpi"])
def test_each_call_brings_new_data(spec: str) -> None:
    """The same benchmark with static data is the proof that it would notice old ones."""
    ended = run(site(spec), 2, "--benchmarks", "Renewed", "--data", "both", "--sizes",
                "8,1000,70000", *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(cell.message_bytes, cell.data) for cell in ended.cells} == {
        (size, "fresh") for size in (8, 1000, 70000)
    }
    assert {(skip.key["data"], skip.reason) for skip in ended.skips} == {
        ("static", "a call brought what an earlier one had brought")
    }


def test_with_all_that_changes_what_is_written() -> None:
    """Layouts, roots that move, cold buffers."""
    where = site("openmpi")
    names = "PingPong,Exchange,Uniband,Bcast,Scatter,Reduce,Allreduce,Alltoallv"
    ended = run_all(where, 2, names, "--data", "both", "--cache", "both", "--cache-bytes", 1 << 20,
                    "--layout", "resize_vec", "--root-shift", 1, "--sizes", "0,4096")  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    cells = {(c.benchmark, c.message_bytes, c.cache, c.data): c for c in ended.cells}
    assert len(cells) == len(ended.cells) == 8 * 2 * 2 * 2
    assert all(math.isnan(cell.time_write_s) == (cell.data == "static") for cell in ended.cells)


def test_threads_write_their_own_data() -> None:
    names = "PingPongMT,BiBandMT,AllReduceMT"
    ended = run(site("mpich"), 2, "--benchmarks", names, "--threads", 2, "--data", "fresh",
                "--inflight", 8, "--sizes", "8,4096", *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert all(cell.data == "fresh" and cell.time_write_s > 0 for cell in ended.cells)
    assert ended.cells


def test_what_has_nothing_to_write_is_static_or_refused() -> None:
    names = "PingPong,Barrier,Reduce_local,RMA:Unidir_get"
    ended = run_all(site("mpich"), 2, names, "--sizes", 8, "--data", "fresh",
                    "--insist", "Barrier")  # fmt: skip
    assert {cell.benchmark: cell.data for cell in ended.cells} == {
        "PingPong": "fresh", "Reduce_local": "static", "Unidir_get": "static",
    }  # fmt: skip
    assert [(skip.key["benchmark"], skip.reason) for skip in ended.skips] == [
        ("Barrier", "there are no fresh data: it has no send buffer")
    ]

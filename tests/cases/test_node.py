# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The suite NODE on real ranks: what it chooses, what it refuses. Times are never judged.

One MPI must do, as it measures none: that each runs is in test_registry_matrix.py.
"""

from __future__ import annotations

import platform

import pytest

from tests.cases.launching import run, site

pytestmark = pytest.mark.mpi

STREAMS = "NODE:Read,NODE:Read_tuned,NODE:Triad,NODE:Triad_tuned,NODE:Memcpy"


def test_rows_name_the_way_that_was_taken() -> None:
    ended = run(site("mpich"), 2, "--benchmarks", STREAMS, "--ranks", "1,2", "--sizes", "100000",
                "--seconds", 1)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    ways = {(c.benchmark, c.ranks): c.variant for c in ended.cells}
    assert len(ways) == 10
    for ranks in (1, 2):
        assert ways["Triad_tuned", ranks].endswith(" pages")
        assert "past the caches" not in ways["Read_tuned", ranks]
        assert ways["Triad", ranks] == ways["Read", ranks] != ""
        assert ways["Memcpy", ranks] == ""


def test_what_is_moved_is_counted_on_all_ranks() -> None:
    ended = run(site("mpich"), 2, "--benchmarks", STREAMS, "--ranks", 2, "--sizes", "4096",
                "--mode", "classic", "--repetitions", 2)  # fmt: skip
    moved = {c.benchmark: c.moved_bytes / 4096 / 2 for c in ended.cells}
    assert moved == {"Read": 1, "Read_tuned": 1, "Triad": 3, "Triad_tuned": 3, "Memcpy": 2}


def test_arrays_larger_than_memory_are_refused_and_the_rest_is_measured() -> None:
    ended = run(site("mpich"), 2, "--benchmarks", "NODE:Triad,NODE:Triad_tuned,NODE:Chase",
                "--ranks", 2, "--sizes", f"4096,{1 << 46}", "--seconds", 1)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(c.benchmark, c.message_bytes) for c in ended.cells} == {
        ("Triad", 4096), ("Triad_tuned", 4096), ("Chase", 4096)
    }  # fmt: skip
    assert {skip.reason for skip in ended.skips} == {
        "not enough memory: three arrays of 67108864.0 MiB on each of 2 ranks"
    }


@pytest.mark.skipif(platform.machine() != "x86_64", reason="there is nothing wider to leave out")
def test_a_processor_without_wide_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIGAUGE_ISA", "baseline")
    ended = run(site("mpich"), 1, "--benchmarks", f"{STREAMS},NODE:Peak_sse2,NODE:Peak_avx2",
                "--ranks", 1, "--sizes", "65536", "--seconds", 1)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert not any("avx" in cell.variant for cell in ended.cells)
    assert ended.cell("Triad", 65536).variant == "sse2"
    assert ended.cell("Peak_sse2").wrong_count == 0
    (skip,) = ended.skips
    assert skip.key["benchmark"] == "Peak_avx2"
    assert skip.reason.startswith("this processor has no avx2, or MPIGAUGE_ISA")


def test_an_unknown_set_of_instructions_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIGAUGE_ISA", "avx1024")
    ended = run(site("mpich"), 1, "--benchmarks", "NODE:Triad", "--ranks", 1, "--sizes", "4096")
    assert ended.status != 0
    assert "MPIGAUGE_ISA is 'avx1024', none of baseline, avx2, avx512" in ended.errors
    assert not ended.cells


def test_each_rank_alone_beside_all_others() -> None:
    """Groups of one, all at the same time, with a row for each: a slow core stands out."""
    ended = run(site("mpich"), 2, "--benchmarks", "NODE:Copy_tuned,NODE:Chase_huge", "--ranks", 1,
                "--multi", 1, "--sizes", "65536", "--seconds", 1)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert sorted((c.benchmark, c.group) for c in ended.cells) == [
        ("Chase_huge", 0), ("Chase_huge", 1), ("Copy_tuned", 0), ("Copy_tuned", 1)
    ]  # fmt: skip
    assert all(cell.variant for cell in ended.cells if cell.benchmark == "Copy_tuned")


def test_a_printed_time_is_of_one_way_over_one_line() -> None:
    """A call goes over two lines, 16 times there and back each."""
    ended = run(site("mpich"), 2, "--benchmarks", "NODE:Line,NODE:Mailbox,NODE:Payload",
                "--ranks", 2, "--seconds", 2)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    for cell in ended.cells:
        assert cell.time_scale == 0.5 / 32
        assert cell.time_best_s <= cell.time_p50_s <= cell.time_worst_s


def test_cold_buffers_are_not_claimed_where_there_are_none() -> None:
    ended = run(site("mpich"), 1, "--benchmarks", "NODE:Copy", "--ranks", 1, "--cache", "both",
                "--cache-bytes", 1 << 20, "--sizes", "4096", "--seconds", 1)  # fmt: skip
    assert [cell.cache for cell in ended.cells] == ["hot"]

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The suite NODE on real ranks: what it chooses, what it refuses. Times are never judged.

One MPI must do, as it measures none: that each runs is in test_registry_matrix.py.
"""

from __future__ import annotations

import os
import platform
import sys

import pytest

from mpigauge.model.cpu_lists import as_list, parse_list
from mpigauge.model.record import Noise, Sampled
from tests.cases.launching import ROUGH, run, site

pytestmark = pytest.mark.mpi

STREAMS = "NODE:Read,NODE:Read_tuned,NODE:Triad,NODE:Triad_tuned,NODE:Memcpy"


def test_rows_name_the_way_that_was_taken() -> None:
    ended = run(site("mpich"), 2, "--benchmarks", STREAMS, "--ranks", "1,2", "--sizes", "100000",
                *ROUGH)  # fmt: skip
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
    assert not any(isinstance(record, Sampled) for record in ended.records)
    moved = {c.benchmark: c.moved_bytes / 4096 / 2 for c in ended.cells}
    assert moved == {"Read": 1, "Read_tuned": 1, "Triad": 3, "Triad_tuned": 3, "Memcpy": 2}


def test_arrays_larger_than_memory_are_refused_and_the_rest_is_measured() -> None:
    ended = run(site("mpich"), 2, "--benchmarks", "NODE:Triad,NODE:Triad_tuned,NODE:Chase",
                "--ranks", 2, "--sizes", f"4096,{1 << 46}", *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {(c.benchmark, c.message_bytes) for c in ended.cells} == {
        ("Triad", 4096), ("Triad_tuned", 4096), ("Chase", 4096)
    }  # fmt: skip
    for skip in ended.skips:
        why = "not enough memory: three arrays of 67108864.0 MiB on each of 2 ranks, and there are "
        assert skip.reason.startswith(why)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="there is nothing wider to leave out")
def test_a_processor_without_wide_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIGAUGE_ISA", "baseline")
    ended = run(site("mpich"), 1, "--benchmarks", f"{STREAMS},NODE:Peak_sse2,NODE:Peak_avx2",
                "--ranks", 1, "--sizes", "65536", *ROUGH)  # fmt: skip
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
                "--multi", 1, "--sizes", "65536", *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert sorted((c.benchmark, c.group) for c in ended.cells) == [
        ("Chase_huge", 0), ("Chase_huge", 1), ("Copy_tuned", 0), ("Copy_tuned", 1)
    ]  # fmt: skip
    assert all(cell.variant for cell in ended.cells if cell.benchmark == "Copy_tuned")


def test_a_printed_time_is_of_one_way_over_one_line() -> None:
    """A call goes over four lines, eight times there and back each."""
    ended = run(site("mpich"), 2, "--benchmarks", "NODE:Line,NODE:Mailbox,NODE:Payload",
                "--ranks", 2, *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    for cell in ended.cells:
        assert cell.time_scale == 0.5 / 32
        assert cell.time_best_s <= cell.time_p50_s <= cell.time_worst_s


def test_what_is_taken_of_each_core_is_told_by_itself() -> None:
    ended = run(site("mpich"), 2, "--benchmarks", "NODE:Noise", "--ranks", 2, "--seconds", 2)
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    heard = [r for r in ended.records if isinstance(r, Noise) and r.when == "measured"]
    assert sorted(each.rank for each in heard) == [0, 1]
    cell = ended.cell("Noise")
    for each in heard:
        assert each.seconds >= cell.samples * cell.time_best_s
        assert len(each.start_ns) == len(each.length_ns) == min(each.detours, 4096)
        assert list(each.start_ns) == sorted(each.start_ns)
        assert min(each.length_ns, default=1000) >= 999
        assert sum(each.length_ns) * 1e-9 <= each.seconds
    before = [r for r in ended.records if isinstance(r, Noise) and r.when == "before"]
    (sampled,) = [r for r in ended.records if isinstance(r, Sampled)]
    listened_s = sum(each.seconds for each in before)
    assert sampled.cores == 2
    assert sampled.detours_per_s == pytest.approx(sum(each.detours for each in before) / listened_s)
    clock = ended.launch.clock
    assert sampled.batch_s >= 0.99 * max(20 * clock.cost_s, 25 * clock.step_s)
    assert sampled.batch_s <= 1.01 * max(20 * clock.cost_s, 100 * clock.step_s)


BESIDE = ("Chase_loaded", "Read_loaded")
RESTING = tuple(f"{name}_{share}" for name in BESIDE for share in ("half", "quarter", "eighth"))
COPIES = ("Copy_once", "Copy_once_fresh", "Copy_twice", "Copy_twice_fresh")


def test_ranks_that_share_memory_say_what_they_moved() -> None:
    """Sizes that are not a multiple of a piece, less than one, and none; in a few calls of each."""
    names = ",".join(f"NODE:{name}" for name in (*BESIDE, *RESTING, *COPIES))
    ended = run(site("mpich"), 2, "--benchmarks", names, "--ranks", 2, "--sizes", "0,100,100000",
                "--mode", "classic", "--repetitions", 20)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    moved = {(c.benchmark, c.message_bytes): c.moved_bytes for c in ended.cells}
    assert len(moved) == 36
    assert moved["Read_loaded", 100000] == moved["Read_loaded_half", 100000] == 16 * 65536
    for name in COPIES:
        assert [moved[name, size] for size in (0, 100, 100000)] == [0, 100, 100000]
        assert ended.cell(name, 100).check == "exact"


def test_several_ranks_load_the_memory_of_one() -> None:
    names = ",".join(f"NODE:{name}" for name in BESIDE)
    ended = run(site("mpich"), 3, "--benchmarks", names, "--ranks", "2,3", "--sizes", "262144",
                *ROUGH)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    moved = {(c.benchmark, c.ranks): c.moved_bytes for c in ended.cells}
    assert moved == {
        ("Chase_loaded", 2): 0, ("Chase_loaded", 3): 0,
        ("Read_loaded", 2): 1 << 20, ("Read_loaded", 3): 2 << 20,
    }  # fmt: skip


def test_cold_buffers_are_not_claimed_where_there_are_none() -> None:
    ended = run(site("mpich"), 1, "--benchmarks", "NODE:Copy", "--ranks", 1, "--cache", "both",
                "--cache-bytes", 1 << 20, "--sizes", "4096", *ROUGH)  # fmt: skip
    assert [cell.cache for cell in ended.cells] == ["hot"]


def test_threads_of_a_rank_share_its_work_where_they_are_told() -> None:
    """One launch: each number of threads in each order; more than there are cores is refused."""
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    if "," not in cores:
        pytest.skip("two threads need two cores")
    names = ("Triad_tuned", "Dot", "Memcpy", "Chase")
    options = ("--ranks", 1, "--sizes", 100_000, *ROUGH, "--bind", cores.replace(",", "+"))
    ended = run(site("mpich"), 1, "--benchmarks", ",".join(f"NODE:{name}" for name in names),
                *options, "--threads", "1,2,3", "--thread-order", "compact,scatter")  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    rows = {(c.benchmark, c.threads, c.settings) for c in ended.cells}
    orders = ("thread-order=compact", "thread-order=scatter")
    expected = {(b, n, o) for b in names[:3] for n in (1, 2) for o in orders}
    assert rows == expected | {("Chase", 1, "")}
    both = as_list(parse_list(cores))
    assert all(f"2 threads on {both}" in c.variant for c in ended.cells if c.threads == 2)
    assert {skip.reason for skip in ended.skips} == {
        f"3 threads are more than the 2 cores that this rank may use ({both})"
    }


def test_memory_is_looked_for_where_it_was_put() -> None:
    """On a machine of one node, or in a container that lets nobody put memory, that is said."""
    ended = run(site("mpich"), 1, "--benchmarks", "NODE:Triad,NODE:Triad_tuned,NODE:Chase_huge",
                "--ranks", 1, "--sizes", 1 << 20, *ROUGH,
                "--memory-on", "local,interleaved,4095")  # fmt: skip
    assert ended.status == 0, ended.errors
    placed = [c for c in ended.cells if c.settings in ("memory-on=local", "memory-on=interleaved")]
    assert placed == ended.cells
    assert all("memory on node" in c.variant for c in placed)
    reasons = {s.reason for s in ended.skips}
    refused = {why for why in reasons if "does not let" in why or "does not tell" in why}
    assert len(placed) == 6 or refused
    (missing,) = reasons - refused
    assert missing.startswith("there is no memory on NUMA node 4095; ")


NO_HUGE_PAGES = """
import ctypes, os, sys
assert ctypes.CDLL(None).prctl(41, 1, 0, 0, 0) == 0  # PR_SET_THP_DISABLE, which children inherit
os.execvp(sys.argv[1], sys.argv[1:])
"""


def test_without_huge_pages_rows_say_that_they_have_usual_ones() -> None:
    words = [sys.executable, "-c", NO_HUGE_PAGES]
    ended = run(site("mpich"), 1, "--benchmarks", "NODE:Triad_tuned,NODE:Chase_huge", "--ranks", 1,
                "--sizes", 8 << 20, *ROUGH, before=words)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {cell.benchmark for cell in ended.cells} == {"Triad_tuned", "Chase_huge"}
    assert ended.cell("Triad_tuned", 8 << 20).variant.endswith(", usual pages")


def test_loops_of_a_compiler_that_are_not_there_leave_ours() -> None:
    ended = run(site("mpich"), 1, "--benchmarks", "NODE:Triad,NODE:Memcpy", "--ranks", 1,
                "--sizes", 4096, *ROUGH, "--compiler", "ours,x++=/nowhere.so")  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert [(c.benchmark, c.settings) for c in ended.cells] == [("Triad", ""), ("Memcpy", "")]
    (skip,) = ended.skips
    assert skip.key["settings"] == "compiler=x++"
    assert skip.reason.startswith("/nowhere.so: cannot open shared object file")


SECCOMP = """
import ctypes, os, struct, sys
number, words = int(sys.argv[1]), sys.argv[2:]
load, equal, give = 0x20, 0x15, 0x06
refuse, allow = 0x00050001, 0x7FFF0000  # EPERM
steps = [(load, 0, 0, 0), (equal, 0, 1, number), (give, 0, 0, refuse), (give, 0, 0, allow)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_void_p)]
program = Program(len(steps), ctypes.cast(code, ctypes.c_void_p))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0  # PR_SET_SECCOMP
os.execvp(words[0], words)
"""
"""Runs a program that may not make one call of the system, as container runtimes do."""
MBIND = {"x86_64": 237, "aarch64": 235}


@pytest.mark.skipif(platform.machine() not in MBIND, reason="the number of mbind is not known")
def test_a_system_that_lets_nobody_put_memory_is_quoted() -> None:
    words = [sys.executable, "-c", SECCOMP, str(MBIND[platform.machine()])]
    ended = run(site("mpich"), 1, "--benchmarks", "NODE:Triad", "--ranks", 1, "--sizes", 4096,
                *ROUGH, "--memory-on", "local", before=words)  # fmt: skip
    assert ended.status == 0, ended.errors
    assert not ended.cells
    (skip,) = ended.skips
    assert "(mbind: Operation not permitted); a container or a cpuset may be why" in skip.reason
    assert skip.key["settings"] == "memory-on=local"

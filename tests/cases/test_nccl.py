# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The suite NCCL on real ranks, with a driver and a NCCL for tests. Times are never judged."""

from __future__ import annotations

import pytest

from mpigauge.model.cards import NCCL_SUITE
from mpigauge.model.errors import UserError
from mpigauge.site.mpi.device_memory.nccl import check_nccl
from tests.cases.launching import Ended, Site, run, site
from tests.cuda_fakes import fake

pytestmark = pytest.mark.mpi

CLASSIC = ("--mode", "classic", "--repetitions", 2)
MODE = "MPIGAUGE_FAKE_NCCL"


def names(where: Site) -> list[str]:
    return [card.word for card in where.cards if card.suite == NCCL_SUITE]


def nccl(where: Site, ranks: int, *options: object, benchmarks: str = "") -> Ended:
    words = ("--benchmarks", benchmarks or ",".join(names(where)), "--ranks", ranks)
    libraries = ("--cuda", fake("cuda"), "--nccl", fake("nccl"))
    return run(where, ranks, *words, *libraries, *options)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_benchmark_is_right_in_both_completions(where: Site, ranks: int) -> None:
    ended = nccl(where, ranks, "--sizes", "0,8,100000", *CLASSIC)
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert not ended.skips
    assert {(c.benchmark, c.completion, c.message_bytes) for c in ended.cells} == {
        (name.partition(":")[2], completion, size)
        for name in names(where)
        for completion in ("each", "end")
        for size in (0, 8, 100000)
    }
    for cell in ended.cells:
        assert (cell.memory, cell.check, cell.variant) == ("device", "exact", "NCCL 2.30.7")
        assert cell.sync == ("none" if cell.completion == "end" else "barrier")
        assert cell.sharing == ("shared" if ranks > 2 else "")  # the driver for tests has two GPUs


def test_calls_that_are_completed_at_the_end_are_sampled_in_a_row() -> None:
    # Few seconds per cell mean fewer calls in a row if the first one is slow, as on a busy machine.
    words = ("--sizes", "8", "--precision", 10, "--cell-seconds", 60)
    ended = nccl(site("mpich"), 2, *words, benchmarks="NCCL:AllReduce")
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    calls = {cell.completion: cell.calls for cell in ended.cells}
    assert calls["each"] == 1
    assert calls["end"] > 1


def test_roots_move_and_types_are_those_of_nccl() -> None:
    where = site("mpich")
    rooted = "NCCL:Broadcast,NCCL:Reduce"
    ended = nccl(where, 3, "--sizes", 4096, "--root-shift", "1", *CLASSIC, benchmarks=rooted)
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    for datatype in ("int32", "double", "float16", "bfloat16", "uint64"):
        ended = nccl(where, 2, "--sizes", 4096, "--datatype", datatype, *CLASSIC)
        assert (ended.status, ended.end.wrong_count, len(ended.skips)) == (0, 0, 0), ended.errors


def test_what_nccl_lacks_is_the_reason_of_the_skip() -> None:
    where = site("mpich")
    ended = nccl(where, 2, "--sizes", 64, "--datatype", "int16", *CLASSIC)
    assert {skip.reason for skip in ended.skips} == {"NCCL has no data type int16"}
    ended = nccl(where, 2, "--sizes", 64, "--datatype", "int", "--op", "bxor", *CLASSIC,
                 benchmarks="NCCL:AllReduce")  # fmt: skip
    assert {skip.reason for skip in ended.skips} == {"NCCL has no operation bxor"}
    assert not ended.cells


def test_a_library_without_alltoall_sends_and_receives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODE, "old")
    old = fake("nccl", "-DWITHOUT_ALLTOALL")
    ended = nccl(site("mpich"), 3, "--nccl", old, "--sizes", "8,4096", *CLASSIC,
                 benchmarks="NCCL:AlltoAll")  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    assert {cell.variant for cell in ended.cells} == {"NCCL 2.27.7"}


def test_a_wrong_byte_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODE, "wrong")
    ended = nccl(site("mpich"), 2, "--sizes", 1 << 20, *CLASSIC)
    assert ended.status == 1
    assert {c.benchmark for c in ended.cells if c.wrong_count} == {
        name.partition(":")[2] for name in names(site("mpich"))
    }


def test_ranks_that_nccl_does_not_let_share_a_gpu_are_skipped_in_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(MODE, "one-rank")
    monkeypatch.setenv("MPIGAUGE_FAKE_GPUS", "1")
    ended = nccl(site("mpich"), 2, "--sizes", "8,64", *CLASSIC)
    assert (ended.status, ended.cells) == (0, []), ended.errors
    (reason,) = {skip.reason for skip in ended.skips}
    assert reason.startswith("NCCL 2.30.7: ncclCommInitRank: Duplicate GPU detected : rank 0 and")


def test_ranks_that_nccl_lets_share_a_gpu_are_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIGAUGE_FAKE_GPUS", "1")
    ended = nccl(site("mpich"), 2, "--sizes", "8", *CLASSIC)
    assert {cell.sharing for cell in ended.cells} == {"shared"}


def test_an_error_amid_the_run_keeps_earlier_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODE, "lost")
    ended = nccl(site("mpich"), 2, "--sizes", 8, "--mode", "classic", "--repetitions", 20)
    assert ended.status != 0
    assert "NVLink error on a GPU" in ended.errors


def test_a_library_that_is_missing_or_another_is_refused() -> None:
    where = site("mpich")
    assert check_nccl(str(fake("nccl")), where.mpi, where.kernels) == "2.30.7"
    with pytest.raises(UserError, match=r"^--nccl: .*libcuda.so.1 is not NCCL: it has no nccl"):
        check_nccl(str(fake("cuda")), where.mpi, where.kernels)
    with pytest.raises(UserError, match=r"^--nccl: cannot open NCCL: /nowhere"):
        check_nccl("/nowhere/libnccl.so.2", where.mpi, where.kernels)
    ended = nccl(where, 2, "--nccl", "/nowhere/libnccl.so.2", "--sizes", 8, *CLASSIC)
    assert (ended.status, ended.cells) == (0, []), ended.errors
    assert all("cannot open NCCL" in skip.reason for skip in ended.skips)


def test_without_a_driver_nothing_starts() -> None:
    ended = run(site("mpich"), 2, "--benchmarks", "NCCL:AllReduce", "--cuda", "/nowhere/libcuda.so")
    assert ended.status == 2
    assert "/nowhere/libcuda.so" in ended.errors

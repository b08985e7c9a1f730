# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Trials of calls with buffers on a GPU: their families, what their end means, what is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mpigauge.measuring.plan import PlanPart
from mpigauge.measuring.plan.call_families import (
    ARITHMETIC,
    BROADCASTS,
    FAMILIES,
    MESSAGES,
    MOVES,
    NON_BLOCKING,
    REDUCTIONS,
    TRANSFERS,
    by_family,
    call_of,
    family_of,
)
from mpigauge.measuring.trials.device_trials import SIZES, judged, left_out, tried_cards
from mpigauge.model.columns import Cell
from mpigauge.model.errors import UserError
from mpigauge.model.record import CellRecord, Launch, Record, Skip, nothing_known
from mpigauge.model.stored_cards import all_cards
from mpigauge.site.mpi.device_memory.awareness import (
    CallTrial,
    Circumstances,
    keep_trials,
    relevant,
    trials_of,
)
from tests.unit.measuring.plan.test_plan import MPICH

CARDS = all_cards()
AT = Circumstances("/usr/lib/libcuda.so.1", {"I_MPI_OFFLOAD": "1"})
REDUCTION = CallTrial(REDUCTIONS, "device", AT)
LAUNCH = Launch(0, 1, 2)
SEGV = 11


# --- families -----------------------------------------------------------------------------------
def test_every_benchmark_that_moves_data_on_a_gpu_has_a_family() -> None:
    for card in CARDS:
        if card.suite in ("MPI1", "NBC", "P2P", "RMA", "EXT") and card.buffers:
            assert family_of(card) in FAMILIES, card.word
        if not card.buffers:
            assert not family_of(card), card.word


@pytest.mark.parametrize(
    ("name", "family", "call"),
    [
        ("PingPong", MESSAGES, "PingPong"),
        ("P2P:Stencil2D", MESSAGES, "P2P:Stencil2D"),
        ("Bcast", BROADCASTS, "MPI_Bcast"),
        ("NBC:Ibcast", NON_BLOCKING + BROADCASTS, "MPI_Ibcast"),
        ("Alltoallv", MOVES, "MPI_Alltoallv"),
        ("NBC:Igather_pure", NON_BLOCKING + MOVES, "MPI_Igather"),
        ("Reduce_scatter", REDUCTIONS, "MPI_Reduce_scatter"),
        ("Reduce_local", REDUCTIONS, "MPI_Reduce_local"),
        ("NBC:Iallreduce", NON_BLOCKING + REDUCTIONS, "MPI_Iallreduce"),
        ("RMA:Unidir_put", TRANSFERS, "RMA:Unidir_put"),
        ("EXT:Window", TRANSFERS, "EXT:Window"),
        ("RMA:Fetch_and_op", ARITHMETIC, "RMA:Fetch_and_op"),
        ("RMA:Compare_and_swap", ARITHMETIC, "RMA:Compare_and_swap"),
        ("Barrier", "", "MPI_Barrier"),
    ],
)
def test_families_follow_from_cards(name: str, family: str, call: str) -> None:
    card = CARDS.find(name)
    assert (family_of(card), call_of(card)) == (family, call)
    assert by_family([card]) == ({family: [card]} if family else {})


# --- what the end of a trial means ----------------------------------------------------------------
def cell(name: str, size: int, wrong: int = 0) -> CellRecord:
    card = CARDS.find(name)
    known: dict[str, Any] = nothing_known() | {"suite": card.suite, "benchmark": card.name}
    return CellRecord(Cell.from_record(known | {"message_bytes": size, "wrong_count": wrong}))


def whole(name: str) -> list[Record]:
    return [cell(name, size) for size in SIZES]


def judge(names: list[str], records: list[Record], number: int, reason: str) -> CallTrial:
    return judged(REDUCTION, list(map(CARDS.find, names)), [LAUNCH, *records], number, reason)


def test_right_data_are_accepted() -> None:
    result = judge(["Allreduce", "Reduce"], [*whole("Allreduce"), *whole("Reduce")], 0, "")
    assert (result.accepted, result.refused, result.is_aware) == (("Allreduce", "Reduce"), "", True)


def test_a_signal_is_a_read_on_the_cpu_in_the_call_that_was_not_finished() -> None:
    records = [*whole("Allreduce"), cell("Reduce", 8)]
    result = judge(["Allreduce", "Reduce", "Reduce_scatter"], records, SEGV, "killed by signal 11")
    assert (result.accepted, result.refused) == (("Allreduce",), "Reduce")
    assert result.reason == (
        "this MPI read device memory on the CPU in MPI_Reduce: it is not CUDA-aware for reductions"
    )
    managed = judged(replace(REDUCTION, memory="host:device"), [CARDS.find("Allreduce")], [LAUNCH],
                     SEGV, "killed")  # fmt: skip
    assert managed.reason.startswith("this MPI read device memory on the CPU in MPI_Allreduce")


def test_wrong_data_are_no_awareness() -> None:
    result = judge(["Allreduce", "Reduce"], [*whole("Allreduce"), cell("Reduce", 8, 2)], 0, "")
    assert (result.accepted, result.refused) == (("Allreduce",), "Reduce")
    assert result.reason == (
        "data in device memory were wrong in a trial of MPI_Reduce: this MPI is not CUDA-aware for "
        "reductions"
    )


def test_another_end_is_named_as_it_was() -> None:
    result = judge(["Allreduce"], [], 0, "exit status 1: no more memory")
    assert result.reason == (
        "a trial of MPI_Allreduce with device memory failed: exit status 1: no more memory"
    )


def test_what_the_kernels_refuse_is_neither_accepted_nor_the_end() -> None:
    card = CARDS.find("Allreduce")
    skip = Skip(0, {"suite": card.suite, "benchmark": card.name}, "not enough memory")
    assert judge(["Allreduce"], [skip, skip], 0, "").accepted == ()
    both = judge(["Allreduce", "Reduce"], [skip, skip], SEGV, "killed")
    assert both.refused == "Reduce"


def test_ranks_that_do_not_start_end_the_run() -> None:
    with pytest.raises(UserError) as error:
        judged(REDUCTION, [CARDS.find("Allreduce")], [], SEGV, "a rank was killed by signal 11")
    assert str(error.value) == (
        "--memory device: the ranks did not start with I_MPI_OFFLOAD=1: a rank was killed by "
        "signal 11"
    )


# --- what is left out -------------------------------------------------------------------------
def test_the_rest_of_a_family_is_left_out_with_the_reason() -> None:
    part = PlanPart(("PingPong", "Bcast", "Allreduce", "Reduce", "SELFTEST:Corrupt"), 2)
    failed = replace(REDUCTION, accepted=("Reduce",), refused="Allreduce", reason="why")
    assert list(left_out(part, [failed], CARDS)) == [("Allreduce", "device", "why")]
    messages = CallTrial(MESSAGES, "managed", AT, (), "PingPong", "so")
    assert list(left_out(part, [messages], CARDS)) == [
        ("PingPong", "managed", "so"), ("SELFTEST:Corrupt", "managed", "so"),
    ]  # fmt: skip
    assert not list(left_out(part, [replace(REDUCTION, accepted=("Allreduce",))], CARDS))


def test_what_kernels_would_refuse_is_not_tried() -> None:
    part = PlanPart(("PingPong", "Bcast", "P2P:Stencil2D", "SELFTEST:Corrupt", "Allreduce"), 2)
    local = replace(CARDS.find("Allreduce"), gpu="its operands are in memory of the host")
    benchmarks = tuple(local if card.word == local.word else card for card in CARDS)
    cards = replace(CARDS, benchmarks=benchmarks)
    words = [card.word for card in tried_cards(part, "device", cards)]
    assert words == ["PingPong", "Bcast"]
    assert [card.word for card in tried_cards(part, "device:host", cards)] == ["PingPong"]
    wide = replace(part, world_ranks=4)
    assert "P2P:Stencil2D" in [card.word for card in tried_cards(wide, "device", cards)]


# --- what is kept -----------------------------------------------------------------------------
@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MPIGAUGE_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "libmpi.so.12"
    file.write_text("one")
    (tmp_path / "libcuda.so.1").write_text("driver")
    return file


def test_trials_are_kept_until_mpi_or_driver_change(library: Path) -> None:
    mpi, driver = replace(MPICH, library=library), str(library.with_name("libcuda.so.1"))
    at = Circumstances(driver, {"A": "1"})
    good = CallTrial(MESSAGES, "device", at, ("PingPong",))
    bad = CallTrial(REDUCTIONS, "device", at, (), "Allreduce", "why")
    assert trials_of(mpi, driver) == ()
    keep_trials(mpi, driver, [good, bad])
    assert trials_of(mpi, driver) == (good, bad)
    assert trials_of(mpi, "") == ()
    other = replace(bad, circumstances=replace(at, settings={"A": "2"}), refused="", reason="")
    newer = replace(good, accepted=("PingPong", "Exchange"))
    keep_trials(mpi, driver, [other, newer])
    assert trials_of(mpi, driver) == (bad, other, newer)
    Path(driver).write_text("another driver")
    assert trials_of(mpi, driver) == ()
    keep_trials(mpi, driver, [good])
    library.write_text("another MPI")
    assert trials_of(mpi, driver) == ()


def test_settings_of_mpis_and_cuda_matter() -> None:
    env = {"UCX_TLS": "sm", "HOME": "/root", "I_MPI_OFFLOAD": "1", "CUDA_VISIBLE_DEVICES": "0",
           "OMPI_MCA_pml": "ucx", "PATH": "/bin"}  # fmt: skip
    assert set(relevant(env)) == set(env) - {"HOME", "PATH"}

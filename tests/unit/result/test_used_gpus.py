# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The GPUs of a run: in its heading, as warnings, and a rank on another one than planned."""

from __future__ import annotations

from dataclasses import replace

from mpigauge.measuring.campaign.launch import on_wrong_gpu
from mpigauge.model.record import Rank
from mpigauge.model.records import Gpu, GpuState
from mpigauge.result.facts import Facts
from mpigauge.result.gpus import gpu_sentences, gpus_of
from mpigauge.show.heading import brief_heading, heading
from mpigauge.show.topology.used_gpus import MOST

BUSES = ("0000:19:00.0", "0000:3b:00.0")


def rank(number: int, bus: str = "", host: str = "a", launch: int = 0, link: str = "") -> Rank:
    gpu = Gpu(index=number, bus=bus, name="NVIDIA H100", link=link) if bus else Gpu()
    return Rank(launch, number, host, 1, number, "", "0", 0, 0, gpu=gpu)


def facts(*ranks: Rank, **more: object) -> Facts:
    known = Facts(mpi="mpich 5.0.2", hosts=tuple(dict.fromkeys(r.host for r in ranks)))
    return replace(known, gpus=gpus_of(ranks), cuda="13.0", **more)  # type: ignore[arg-type]


def test_the_heading_names_the_gpu_of_each_rank() -> None:
    used = facts(*(rank(i, BUSES[i], launch=n, link="32.0 GT/s x16")
                   for n in range(2) for i in (1, 0)),
                 gpu_settings=("I_MPI_OFFLOAD=1",))  # fmt: skip
    assert brief_heading(used, 200)[-1] == (
        "2 × NVIDIA H100 (CUDA 13.0): rank 0 on 0000:19:00.0; rank 1 on 0000:3b:00.0"
    )
    assert (
        "2 × NVIDIA H100 (CUDA 13.0): rank 0 on 0000:19:00.0, PCIe 32.0 GT/s x16; rank 1 on "
        "0000:3b:00.0, PCIe 32.0 GT/s x16; I_MPI_OFFLOAD=1 added for them"
    ) in heading(used)


def test_shared_gpus_and_several_hosts_are_shown() -> None:
    shared = facts(rank(0, BUSES[0]), rank(1, BUSES[0]))
    assert brief_heading(shared)[-1].startswith("1 × NVIDIA H100 (CUDA 13.0): ranks 0-1 on 0000:19")
    apart = facts(rank(0, BUSES[0], "a"), rank(1, BUSES[0], "b"))
    assert "rank 0 on a 0000:19:00.0; rank 1 on b 0000:19:00.0" in brief_heading(apart, 200)[-1]
    many = facts(*(rank(i, f"0000:{i:02x}:00.0") for i in range(MOST + 3)))
    assert brief_heading(many, 300)[-1].endswith("; 3 more")
    assert "more" not in heading(many)[-1]


def test_without_gpus_the_heading_is_as_before() -> None:
    none = facts(rank(0), rank(1))
    assert none.gpus == ()
    assert not any("×" in line for line in [*heading(none), *brief_heading(none)])


def test_a_clock_that_is_held_down_is_a_warning() -> None:
    good = GpuState(0, 0, "before", BUSES[0], 1.98e9, 1.98e9)
    slow = replace(good, launch=1, when="after", clock_hz=1.2e9, throttle="power,thermal")
    assert list(gpu_sentences([good, good])) == []
    assert list(gpu_sentences([good, slow, replace(slow, launch=2, clock_hz=1.5e9)])) == [
        (
            "The clock of the GPU at 0000:19:00.0 was held down by power and thermal after "
            "launches 1 and 2, at 1.20 GHz of 1.98 GHz."
        )
    ]
    unknown = replace(slow, clock_hz=float("nan"), throttle="hardware")
    assert list(gpu_sentences([unknown])) == [
        "The clock of the GPU at 0000:19:00.0 was held down by hardware after launch 1."
    ]


def test_other_processes_on_a_gpu_are_a_warning() -> None:
    busy = GpuState(0, 0, "before", BUSES[1], others=2)
    assert list(gpu_sentences([busy])) == [
        (
            "The GPU at 0000:3b:00.0 was used by 2 other processes before launch 0: the results "
            "are of a shared GPU."
        )
    ]


def test_a_rank_on_another_gpu_than_planned_ends_the_run() -> None:
    assert on_wrong_gpu(rank(1, BUSES[1]), BUSES) == ""
    assert on_wrong_gpu(rank(1), BUSES) == ""
    assert on_wrong_gpu(rank(1, BUSES[1]), ()) == ""
    assert on_wrong_gpu(rank(1, BUSES[0]), BUSES) == (
        "rank 1 on a was to use the GPU at 0000:3b:00.0 and uses the one at 0000:19:00.0"
    )
    lost = replace(rank(1, BUSES[0]), local_rank=-1)
    assert "has no number among the ranks of its host" in on_wrong_gpu(lost, BUSES)

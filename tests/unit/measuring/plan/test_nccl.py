# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""NCCL before a launch: how the library is found, what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mpigauge.measuring.plan import Request, read_request
from mpigauge.measuring.plan.memory.gpus import uses_gpus, uses_nccl
from mpigauge.measuring.plan.request import LookedUp
from mpigauge.model.cards import NCCL_SUITE
from mpigauge.model.errors import UserError
from mpigauge.model.stored_cards import all_cards
from mpigauge.session import gpus as session_gpus
from mpigauge.session.gpus import check_gpu_options
from mpigauge.session.targets import Target
from mpigauge.site.mpi.device_memory import libraries
from mpigauge.site.mpi.device_memory.libraries import nccl_library
from mpigauge.site.mpi.device_memory.nccl import read_version
from tests.cuda_fakes import fake

NCCL = [card.word for card in all_cards() if card.suite == NCCL_SUITE]
DRIVER = LookedUp(cuda="/opt/driver/libcuda.so.1")


def checked(*names: str, looked_up: LookedUp = DRIVER) -> Request:
    request = read_request({"benchmarks": names}, looked_up)
    check_gpu_options(request, names, Target())
    return request


def test_there_are_the_seven_collectives_in_both_completions() -> None:
    assert [word.partition(":")[2] for word in NCCL] == [
        "AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AlltoAll", "SendRecv"
    ]  # fmt: skip
    for word in NCCL:
        card = all_cards().find(word)
        assert card.completions == ("each", "end")
        assert card.by_default


def test_names_that_mpi_also_has_stay_those_of_mpi() -> None:
    for bare in ("Allreduce", "AllReduce", "Reduce", "AllGather", "alltoall", "SendRecv"):
        assert all_cards().find(bare).suite == "MPI1"
    assert all_cards().find("Broadcast").suite == NCCL_SUITE


@pytest.mark.parametrize("word", NCCL)
def test_they_need_gpus_without_being_told(word: str) -> None:
    chosen = all_cards().chosen([word])
    assert uses_gpus(read_request({"benchmarks": (word,)}), chosen)
    assert uses_nccl(chosen)
    assert not uses_nccl(all_cards().chosen(["Allreduce"]))


def test_the_library_that_the_loader_finds_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "site"
    (packages / "nvidia" / "nccl" / "lib").mkdir(parents=True)
    of_package = packages / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
    of_package.write_bytes(fake("nccl").read_bytes())
    monkeypatch.setattr(sys, "path", [str(packages)])
    assert nccl_library({}, root=tmp_path) == of_package
    loaded = {"LD_LIBRARY_PATH": str(fake("nccl").parent)}
    assert nccl_library(loaded) == fake("nccl")
    of_package.unlink()
    assert nccl_library({}, root=tmp_path) is None


def test_without_a_library_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "nccl_library", lambda _: None)
    with pytest.raises(UserError, match=r"^there is no libnccl\.so\.2 here; name .* --nccl FILE"):
        checked("NCCL:AllReduce")
    with pytest.raises(UserError, match=r"^there is no libnccl\.so\.2 here"):
        checked("nccl")
    given = LookedUp(cuda=DRIVER.cuda, nccl="/opt/nccl/libnccl.so.2")
    assert checked("NCCL:AllReduce", looked_up=given).nccl == "/opt/nccl/libnccl.so.2"


def test_without_a_driver_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "driver_library", lambda _: None)
    with pytest.raises(UserError, match=r"^a GPU needs the driver of an NVIDIA GPU"):
        checked("NCCL:AllReduce", looked_up=LookedUp())


def test_a_library_without_benchmarks_of_nccl_is_refused() -> None:
    given = LookedUp(nccl="/opt/nccl/libnccl.so.2")
    with pytest.raises(UserError, match=r"^--nccl has no effect .* such as NCCL:AllReduce$"):
        checked("Allreduce", looked_up=given)


def test_other_benchmarks_look_for_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_gpus, "_nccl", lambda: pytest.fail("it was looked for"))
    assert checked("Allreduce", looked_up=LookedUp()).nccl == ""


def test_what_a_kernel_prints_of_a_library() -> None:
    assert read_version("version=2.28.3\n", "libnccl.so.2", 0) == "2.28.3"
    with pytest.raises(UserError, match=r"^--nccl: libm.so is not NCCL: it has no ncclGetVersion$"):
        read_version("problem=libm.so is not NCCL: it has no ncclGetVersion\n", "libm.so", 2)
    with pytest.raises(UserError, match=r"^--nccl: bad.so ended its process .* signal 11$"):
        read_version("", "bad.so", -11)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Buffers on a GPU, on a fake driver: measured where the MPI is aware, left out where it is not.

With the fake an MPI without any code for CUDA is aware if the CPU may touch device memory, and ends
by a signal otherwise. Intel MPI has code of its own, which needs more of the driver than the fake
has, so it runs without that.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.runs.store import Run, load
from tests.cuda_fakes import BUSES, fake_driver
from tests.e2e import commands as cli

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]
ONCE = ("--launches", "1", *cli.ROUGH)
QUICK = (*ONCE, "--sizes", "8,64Ki", "--output", "out")
TRYING = "trying {} with {} memory"


@pytest.fixture
def words(mpi: Mpi, built: Kernels) -> tuple[str, ...]:
    """The options that select the MPI."""
    assert built.executable.exists()
    off = ("--set", "I_MPI_OFFLOAD=0") if mpi.name == "intel" else ()
    return ("--mpi", mpi.spec, *off)


def measured(
    names: tuple[str, ...], words: tuple[str, ...], env: dict[str, str], cwd: Path
) -> tuple[Run, subprocess.CompletedProcess[str]]:
    done = cli.mpigauge("run", *names, *words, *QUICK, cwd=cwd, env=env)
    assert done.returncode == 0, done.stderr
    return load(cwd / "out"), done


def without_shared_memory(words: tuple[str, ...]) -> tuple[str, ...]:
    """One-sided communication of Open MPI 5.0.11 over shared memory ends by signal 11 now and
    then."""
    return (*words, "--set", "btl=self,tcp") if "openmpi" in words[1] else words


def kinds(run: Run, benchmark: str) -> dict[str, int]:
    """The number of cells by kind of memory."""
    of = [cell.memory for cell in run.cells if cell.benchmark == benchmark]
    return {kind: of.count(kind) for kind in dict.fromkeys(of)}


def test_an_aware_mpi_is_measured_in_every_memory(words: tuple[str, ...], tmp_path: Path) -> None:
    env = fake_driver(tmp_path / "driver", "aware")
    every = "device,host,pinned,managed"
    run, done = measured(("PingPong", "Allreduce", "--memory", every), words, env, tmp_path)
    for name in ("PingPong", "Allreduce"):
        assert kinds(run, name) == dict.fromkeys(("device", "host", "pinned", "managed"), 2)
    assert not run.skips
    assert {cell.check for cell in run.cells} == {"exact"}
    assert [rank.gpu.bus for rank in run.ranks] == list(BUSES)
    trials = run.header["device_memory_trials"]
    assert {(trial["family"], trial["memory"], trial["refused"]) for trial in trials} == {
        (family, memory, "") for family in ("messages", "reductions")
        for memory in ("device", "managed")
    }  # fmt: skip
    assert TRYING.format("messages", "device") in done.stderr
    assert "2 × Fake GPU (CUDA 13.0): rank 0 on 0000:19:00.0; rank 1 on 0000:1a:00.0" in done.stdout
    # Nothing is tried again.
    again = cli.mpigauge("run", "PingPong", "--memory", "device:host", *words, *QUICK[:-1], "again",
                         cwd=tmp_path, env=env)  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert TRYING.format("messages", "device:host") in again.stderr
    third = cli.mpigauge("run", "PingPong", "--memory", "device:host", *words, *QUICK[:-1], "third",
                         cwd=tmp_path, env=env)  # fmt: skip
    assert "trying" not in third.stderr
    assert set(kinds(load(tmp_path / "third"), "PingPong")) == {"device>host"}


def test_an_mpi_that_reads_device_memory_is_left_out(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    env = fake_driver(tmp_path / "driver")
    names = ("PingPong", "Bcast", "Allreduce", "NBC:Iallreduce", "--memory", "device,host,managed")
    run, done = measured(names, words, env, tmp_path)
    for name in ("PingPong", "Bcast", "Allreduce", "Iallreduce"):
        assert kinds(run, name) == {"host": 2, "managed": 2}
    reasons = {skip.reason for skip in run.skips}
    assert reasons == {
        f"this MPI read device memory on the CPU in {call}: it is not CUDA-aware for {family}"
        for call, family in (
            ("PingPong", "messages"),
            ("MPI_Bcast", "broadcasts"),
            ("MPI_Allreduce", "reductions"),
            ("MPI_Iallreduce", "non-blocking reductions"),
        )
    }
    assert {skip.key["memory"] for skip in run.skips} == {"device"}
    assert "not CUDA-aware for reductions" in " ".join(done.stdout.split())


def test_one_sided_calls_are_families_of_their_own(words: tuple[str, ...], tmp_path: Path) -> None:
    env = fake_driver(tmp_path / "driver")
    names = ("RMA:Unidir_put", "RMA:Accumulate", "--memory", "device,managed")
    run, _ = measured(names, without_shared_memory(words), env, tmp_path)
    families = {skip.reason.partition("for ")[2] for skip in run.skips}
    assert families == {"one-sided transfers", "one-sided arithmetic"}
    assert {skip.key["benchmark"] for skip in run.skips} == {"Unidir_put", "Accumulate"}
    assert {cell.memory for cell in run.cells} == {"managed"}


def test_every_benchmark_checks_its_data_on_a_gpu(words: tuple[str, ...], tmp_path: Path) -> None:
    """A benchmark that compared the mirror of its buffer before it was copied back would fail."""
    env = fake_driver(tmp_path / "driver", "aware")
    suites = ("MPI1", "NBC", "RMA", "EXT")
    done = cli.mpigauge("run", *suites, "-n", "2", "--memory", "device", "--sizes", "8,4Ki",
                        *without_shared_memory(words), *ONCE, "--time", "15s",
                        "--output", "out", cwd=tmp_path, env=env)  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = load(tmp_path / "out")
    refused = [trial["reason"] for trial in run.header["device_memory_trials"] if trial["refused"]]
    assert refused == []
    assert {cell.suite for cell in run.cells} == set(suites)
    assert not any(cell.wrong_count for cell in run.cells)


def test_a_target_that_fills_its_buffer_late_loses_nothing(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    """Ranks meet when buffers are on the GPU; on an H200, a put was overwritten by the poison."""
    env = fake_driver(tmp_path / "driver", "aware") | {"MPIGAUGE_FAKE_SLOW": "1"}
    names = ("RMA:Unidir_put", "EXT:Unidir_Put", "PingPong", "--memory", "device")
    run, _ = measured(names, without_shared_memory(words), env, tmp_path)
    assert run.cells
    assert not any(cell.wrong_count for cell in run.cells)


def test_a_wrong_byte_on_the_device_is_found(words: tuple[str, ...], tmp_path: Path) -> None:
    env = fake_driver(tmp_path / "driver", "aware")
    done = cli.mpigauge("run", "SELFTEST:Corrupt", "--memory", "device", *words, *QUICK,
                        cwd=tmp_path, env=env)  # fmt: skip
    assert done.returncode == 1
    assert "wrong data: " in cli.last_line(done.stderr)


def test_ranks_share_a_gpu_only_if_it_is_named_twice(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    env = fake_driver(tmp_path / "driver", "aware")
    run, _ = measured(("PingPong", "--memory", "device", "--gpu", "1,1"), words, env, tmp_path)
    assert {cell.sharing for cell in run.cells} == {"shared"}
    assert {(rank.gpu.bus, rank.gpu.ranks_on_it) for rank in run.ranks} == {(BUSES[1], 2)}


def test_the_classic_mode_and_a_map_measure_on_gpus(words: tuple[str, ...], tmp_path: Path) -> None:
    env = fake_driver(tmp_path / "driver", "aware")
    classic = cli.mpigauge("run", "PingPong", "--classic", "--memory", "device", "--sizes", "8",
                           *words, "--output", "classic", cwd=tmp_path, env=env)  # fmt: skip
    assert classic.returncode == 0, classic.stderr
    assert set(kinds(load(tmp_path / "classic"), "PingPong")) == {"device"}
    drawn = cli.mpigauge("map", "--memory", "device", "--sizes", "8", *words, *ONCE,
                         "--output", "map", cwd=tmp_path, env=env)  # fmt: skip
    assert drawn.returncode == 0, drawn.stderr
    assert set(kinds(load(tmp_path / "map"), "PingPong")) == {"device"}


def test_a_gpu_that_is_lost_is_the_reason(words: tuple[str, ...], tmp_path: Path) -> None:
    """In a trial, which leaves out the memory, or in a launch, which fails. On a busy machine the
    launcher may end the rank before its line has arrived, so there are three attempts."""
    printed = ""
    for number in range(3):
        folder = tmp_path / str(number)
        env = fake_driver(folder / "driver", "lost")
        done = cli.mpigauge("run", "PingPong", "--memory", "managed,host", *words, *QUICK,
                            cwd=folder, env=env)  # fmt: skip
        assert done.returncode in (0, 1)
        assert "Traceback" not in done.stderr
        printed += done.stdout + done.stderr
        if "CUDA_ERROR_DEVICES_UNAVAILABLE" in printed:
            break
    assert "CUDA_ERROR_DEVICES_UNAVAILABLE" in printed


# --- refusals -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "variables", "sentence"),
    [
        (("--np", "3", "--oversubscribe"), {}, "has 2 GPUs for 3 ranks"),
        (("--gpu", "0,2"), {}, "there is no GPU 2"),
        ((), {"MPIGAUGE_FAKE_CUDA": "none"}, "offers no GPU"),
        ((), {"CUDA_VISIBLE_DEVICES": ""}, "offers no GPU"),
        ((), {"MPIGAUGE_FAKE_CUDA": "old"}, "supports CUDA 10.2, and 11.4 is the oldest"),
        (("--sizes", "8Mi"), {"MPIGAUGE_FAKE_GPU_MIB": "4"}, "8 MiB for 1 rank on the GPU at"),
        (("--cuda", "missing"), {}, "--cuda: there is no file missing"),
        (("--cuda", "/bin/sh"), {}, "/bin/sh"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    options: tuple[str, ...], variables: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    env = fake_driver(tmp_path / "driver") | variables
    done = cli.mpigauge("run", "Allreduce", "--memory", "device", "--mpi", "mpich", *options,
                        "--output", "out", cwd=tmp_path, env=env)  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert sentence in done.stderr
    assert not (tmp_path / "out").exists()


def test_without_a_driver_there_is_no_device_memory(tmp_path: Path) -> None:
    done = cli.mpigauge("run", "PingPong", "--memory", "device", cwd=tmp_path)
    assert done.returncode == 2
    assert "needs the driver of an NVIDIA GPU, and there is no libcuda.so.1 here" in done.stderr


def test_a_plan_file_names_memory_and_limit(words: tuple[str, ...], tmp_path: Path) -> None:
    keys = {"benchmarks": ["PingPong"], "memory": ["device", "host"], "memory-limit": "64Mi",
            "sizes": "8", "launches": 1, "control": False}  # fmt: skip
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    plan = "\n".join([*lines, "[[vary]]", 'grid = { "env:X" = [1] }'])
    (tmp_path / "plan.toml").write_text(plan)
    env = fake_driver(tmp_path / "driver", "aware")
    done = cli.mpigauge("sweep", "plan.toml", *words, "--output", "out", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    run = load(tmp_path / "out")
    assert run.plan["memory_limit"] == 64 << 20
    assert set(kinds(run, "PingPong")) == {"device", "host"}

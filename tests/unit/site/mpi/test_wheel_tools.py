# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What builds wheels and looks into them; a whole one is built by `make acceptance PART=wheel`."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from mpigauge.products.profile.launch import library as profiler
from mpigauge.site.builds import kernel_places
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import translation
from mpigauge.site.mpi.programs import small
from tests import mpi_fakes as fake
from tools import check_wheel, shipped, wheel_source

NAME = "mpigauge-1.0-py3-none-manylinux_2_17_x86_64.whl"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    with ZipFile(tmp_path / NAME, "w") as archive:
        for name, size in (
            ("_shipped/kernels/mpich/plugin.so", 300),
            ("_shipped/kernels/mpich/host", 20),
            ("_shipped/programs/a/x.so", 5),
            ("_shipped/programs/b/y.so", 6),
            ("cli/main.py", 7),
        ):
            archive.writestr(f"mpigauge/{name}", "x" * size)
    return tmp_path / NAME


def test_each_library_is_a_part_of_its_own(wheel: Path) -> None:
    assert check_wheel.parts(wheel) == {
        "_shipped/kernels/mpich": 320,
        "_shipped/programs": 11,
        "cli": 7,
    }


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ('is consistent with "manylinux_2_17_x86_64"', ""),
        ('is consistent with "manylinux_2_12_x86_64"', ""),
        ('is consistent with "manylinux_2_28_x86_64"', "needs manylinux_2_28_x86_64, and says"),
        ('is consistent with "manylinux_2_34_x86_64"', "which is newer than RHEL 8"),
        ('is consistent with "linux_x86_64"', "auditwheel finds no glibc"),
    ],
)
def test_a_wheel_that_needs_more_than_it_says_is_refused(
    wheel: Path, said: str, problem: str
) -> None:
    found = "; ".join(check_wheel.wrong(wheel, said))
    assert problem in found
    assert bool(problem) == bool(found)


def test_a_wheel_that_is_too_large(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_wheel, "MOST_BYTES", 100)
    (found,) = check_wheel.wrong(wheel, '"manylinux_2_17_x86_64"')
    assert "more than 100" in found


def test_the_tag_is_what_the_kernels_say(tmp_path: Path) -> None:
    (tmp_path / "kernels" / "mpich").mkdir(parents=True)
    made = {"libc": "glibc 2.17", "machine": "aarch64"}
    (tmp_path / "kernels" / "mpich" / "build.json").write_text(json.dumps(made))
    assert wheel_source.platform_of(tmp_path) == "manylinux_2_17_aarch64"


def test_all_pairs_are_shipped_that_can_be_asked_for() -> None:
    pairs = set(shipped.pairs(["mpich", "ompi", "std"]))
    assert len(pairs) == 9
    assert {("mpich", "ompi"), ("std", "std"), ("mpich", "mpich")} < pairs


def test_what_was_shipped_is_used_and_nothing_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_places, "SHIPPED", tmp_path)
    monkeypatch.setenv("CXX", "/no/such/compiler")
    monkeypatch.setenv("MPIGAUGE_CACHE", str(tmp_path / "cache"))
    source, name = "int x;", "libx.so"
    ready = [
        tmp_path / "profiler" / profiler.NAME,
        tmp_path / "programs" / small.digest_of(name, source) / name,
        tmp_path / "translation" / "mpich-on-ompi" / "lib" / "libmpi.so.12",
    ]
    for path in ready:
        path.parent.mkdir(parents=True)
        path.touch()
    assert profiler.library() == ready[0]
    assert small.small_library(name, source, "a test") == ready[1]
    mpi = find(str(fake.openmpi(tmp_path / "openmpi")))
    assert translation.translation("mpich", mpi).folder == ready[2].parent
    other = translation.translation("mpich", mpi, needed=["libmpi_gnu_51.so.12"])
    assert other.folder.is_relative_to(tmp_path / "cache")
    assert (other.folder / "libmpi_gnu_51.so.12").resolve() == ready[2]
    assert other.preload == (other.folder / "libmpi.so.12",)

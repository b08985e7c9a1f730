# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What `mpigauge bundle` packs, what it refuses, and how the bundle finds its Python."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path

import pytest

import mpigauge
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.products.bundle import archive, contents, distributions, making, show, start
from mpigauge.products.bundle.archive import Entry, File, Link
from mpigauge.products.bundle.distributions import Requirement
from mpigauge.products.bundle.making import PackRequest
from mpigauge.products.submit.itself import own_words
from mpigauge.site.builds import kernel_build, kernel_places
from mpigauge.site.mpi.make import imb_programs
from mpigauge.site.mpi.packages import wheels
from tests import mpi_fakes as fake
from tools import wheel_source

NEEDS = start.Needs("cpython-311", "3.11", platform.machine(), (2, 17))
SOME: list[Entry] = [
    File("b/run", b"#!/bin/sh\n", runs=True),
    Link("a/link", "../b/run"),
    File("a/text", b"x"),
]


# --- the packages ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("click>=8.1", Requirement("click", (), "", False)),
        ("pygments (>=2.13.0,<3.0.0)", Requirement("pygments", (), "", False)),
        ("tomli>=2; python_version < '3.11'", Requirement("tomli", (), "", True)),
        ('Babel>=2.7 ; extra == "i18n"', Requirement("Babel", (), "i18n", False)),
        ("a[blas, sql]; extra == 'all'", Requirement("a", ("blas", "sql"), "all", False)),
        ("a.b-c; (sys_platform == 'linux') and extra == 'x'", Requirement("a.b-c", (), "x", False)),
    ],
)  # fmt: skip
def test_lines_of_metadata(line: str, read: Requirement) -> None:
    assert distributions.requirement(line) == read


def package(folder: Path, name: str, *requires: str, wheel: str = "py3-none-any") -> None:
    """A distribution as pip leaves it."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    module = folder / name.replace("-", "_")
    for path, text in {
        info / "METADATA": "\n".join(
            ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0"]
            + [f"Requires-Dist: {line}" for line in requires]
        ),
        info / "WHEEL": f"Tag: {wheel}\n",
        info / "INSTALLER": "pip",
        module / "__init__.py": "",
        module / "tests" / "test_it.py": "",
        module / "__pycache__" / "it.pyc": "",
        module / "tests.py": "",
        folder / ".." / "bin" / name: "#!/bin/sh\n",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    names = [path for where in (info, module) for path in sorted(where.rglob("*"))]
    lines = [f"{path.relative_to(folder)},," for path in names if path.is_file()]
    (info / "RECORD").write_text("\n".join([*lines, f"../bin/{name},,", f"{info.name}/RECORD,,"]))


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An mpigauge that needs few packages, before all others on the path."""
    folder = tmp_path / "packages"
    needs = ("Needed>=1", "on-windows; sys_platform == 'win32'", "absent-db; extra == 'sql'",
             "plots; extra == 'pictures'", "absent-dev; extra == 'dev'")  # fmt: skip
    package(folder, "mpigauge", *needs)
    package(folder, "needed", "below[fast]")
    package(folder, "below", "needed", "speed-up; extra == 'fast'", "slow; extra == 'slow'")
    package(folder, "speed-up", wheel="cp311-cp311-manylinux_2_27_x86_64")
    package(folder, "plots")
    monkeypatch.syspath_prepend(str(folder))
    return folder


def names(found: list[metadata.Distribution]) -> list[str]:
    return [each.name for each in found]


def test_what_is_needed_is_found_once(packages: Path) -> None:
    assert packages.is_dir()
    found = distributions.distributions(())
    assert names(found) == ["mpigauge", "needed", "below", "speed-up"]
    assert max(map(distributions.libc_of, found)) == (2, 27)
    more = distributions.distributions(("pictures",))
    assert set(names(more)) == {*names(found), "plots"}


def test_an_extra_that_is_not_installed_is_refused(packages: Path) -> None:
    assert packages.is_dir()
    with pytest.raises(UserError, match=r"absent-db belongs into the bundle and is not installed"):
        distributions.distributions(("sql",))


def test_files_that_nothing_needs_stay_here(packages: Path) -> None:
    assert packages.is_dir()
    needed = metadata.distribution("needed")
    assert {file.name for file in distributions.files_of(needed)} == {
        "needed/__init__.py", "needed/tests.py",
        "needed-1.0.dist-info/METADATA", "needed-1.0.dist-info/WHEEL",
    }  # fmt: skip


def test_a_package_that_does_not_say_its_files(packages: Path) -> None:
    (packages / "needed-1.0.dist-info" / "RECORD").unlink()
    with pytest.raises(UserError, match="the files of the package needed, as another"):
        list(distributions.files_of(metadata.distribution("needed")))


@pytest.mark.parametrize(
    ("tags", "libc"),
    [
        ("Tag: py3-none-any", (0, 0)),
        ("Tag: cp311-cp311-manylinux_2_28_x86_64\nTag: cp311-cp311-manylinux_2_27_x86_64", (2, 27)),
        ("Tag: cp311-cp311-manylinux2014_x86_64", (2, 17)),
    ],
)
def test_the_libc_of_a_wheel(packages: Path, tags: str, libc: tuple[int, int]) -> None:
    (packages / "needed-1.0.dist-info" / "WHEEL").write_text(f"{tags}\n")
    assert distributions.libc_of(metadata.distribution("needed")) == libc


# --- the archive ----------------------------------------------------------------------------------
@pytest.mark.parametrize("ending", archive.ENDINGS)
def test_the_same_content_is_the_same_bytes(tmp_path: Path, ending: str) -> None:
    source = tmp_path / "source"
    source.write_text("text")
    entries: list[Entry] = [*SOME, File("c", source)]
    first, second = tmp_path / f"first{ending}", tmp_path / f"second{ending}"
    archive.write(first, ending, "top", entries)
    os.utime(source, (1, 1))
    archive.write(second, ending, "top", reversed(entries))
    assert first.read_bytes() == second.read_bytes()
    with tarfile.open(first) as made:
        members = made.getmembers()
    assert [each.name for each in members] == ["top/a/link", "top/a/text", "top/b/run", "top/c"]
    assert {(each.uid, each.gid, each.mtime) for each in members} == {(0, 0, archive.TIME_S)}
    assert [each.mode for each in members if each.isfile()] == [0o644, 0o755, 0o644]
    assert members[0].linkname == "../b/run"


# --- how it is started ----------------------------------------------------------------------------
@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """The start of a bundle, with a mpigauge that says how it was called; reached by a link."""
    top = tmp_path / "with blanks" / "top"
    fake.program(top / start.PROGRAM, start.program(NEEDS))
    main = top / start.PYTHON / start.MAIN
    main.parent.mkdir()
    main.write_text("import sys; print(sys.path[0], *sys.argv[1:])")
    (tmp_path / "mpigauge").symlink_to(top / start.PROGRAM)
    for name in ("readlink", "uname"):
        (tmp_path / "tools").mkdir(exist_ok=True)
        (tmp_path / "tools" / name).symlink_to(f"/usr/bin/{name}")
    return tmp_path / "mpigauge"


def started(program: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    path = {"PATH": str(program.parent / "tools")}
    call = ["/bin/sh", str(program), *words]
    return subprocess.run(call, env=path | env, capture_output=True, text=True, check=False)


def python(folder: Path, name: str, tag: str) -> None:
    """A Python that says it is of this version, and runs what it is given."""
    text = f'#!/bin/sh\n[ "$1" != -c ] || {{ case "$2" in *{tag}*) exit 0;; *) exit 1;; esac; }}\n'
    says = '[ "$1" != --version ] || { echo Python 3.9.2; exit; }\n'
    fake.program(folder / "tools" / name, f'{text}{says}exec {sys.executable} "$@"\n')


@pytest.mark.parametrize("name", ["python3.11", "python3"])
def test_it_takes_the_python_that_it_was_made_for(
    unpacked: Path, tmp_path: Path, name: str
) -> None:
    python(tmp_path, name, "cpython-311")
    done = started(unpacked, "run", "two words")
    assert done.stderr == ""
    assert done.stdout == f"{tmp_path}/with blanks/top/python run two words\n"


def test_no_other_python_is_taken(unpacked: Path, tmp_path: Path) -> None:
    python(tmp_path, "python3", "cpython-39")
    done = started(unpacked)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("mpigauge: this bundle is for Python 3.11, and on PATH is Python 3.9.2;")
    assert f"{tmp_path}/with blanks/top/imb/IMB-MPI1" in line


def test_a_python_that_is_named(unpacked: Path, tmp_path: Path) -> None:
    python(tmp_path, "mine", "cpython-311")
    python(tmp_path, "old", "cpython-39")
    assert started(unpacked, MPIGAUGE_PYTHON=f"{tmp_path}/tools/mine").returncode == 0
    done = started(unpacked, MPIGAUGE_PYTHON=f"{tmp_path}/tools/old")
    assert done.returncode == 2
    assert f"names {tmp_path}/tools/old, which is not Python 3.11;" in done.stderr


def test_another_kind_of_machine(unpacked: Path, tmp_path: Path) -> None:
    (tmp_path / "tools" / "uname").unlink()
    fake.program(tmp_path / "tools" / "uname", "#!/bin/sh\necho riscv64\n")
    done = started(unpacked)
    assert done.returncode == 2
    machine = platform.machine()
    assert done.stderr == f"mpigauge: this bundle is for {machine}, and this machine is riscv64\n"


def test_an_old_c_library(tmp_path: Path) -> None:
    new = start.Needs("", "", "", (9, 99))
    (tmp_path / start.MAIN).write_text(start.main(new))
    words = [sys.executable, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    here = " ".join(platform.libc_ver())
    assert done.stderr == f"mpigauge: this bundle needs glibc 9.99, and here is {here}\n"


# --- the whole ------------------------------------------------------------------------------------
@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kernels that are only files, built for whatever MPI."""
    folder = tmp_path / "built"

    def kernels(mpi: Mpi, _: object) -> Kernels:
        return kernels_at(folder / mpi.abi, mpi.abi)

    monkeypatch.setattr(making, "kernels", kernels)
    return folder


def kernels_at(folder: Path, abi: str) -> Kernels:
    host, plugin = kernel_build.HOST, f"{kernel_build.HOST}.{abi}.so"
    fake.program(folder / host, host)
    for name in (plugin, kernel_build.CARDS):
        (folder / name).write_text(name)
    text = '{"sources": "a", "compiler": "g++", "flags": "", "machine": "m", "libc": "glibc 2.20"}'
    (folder / kernel_build.FILE).write_text(text)
    return kernel_build.kernels_in(folder, "ompi" if abi == "ompi" else "mpich", "built here")


def members(file: Path, top: str) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(file) as made:
        return {each.name.removeprefix(f"{top}/"): each for each in made.getmembers()}


def test_a_bundle_of_a_clone(packages: Path, built: Path, tmp_path: Path) -> None:
    """Sources and kernels lie where those of a wheel do; the IMB programs know no MPI."""
    assert packages.is_dir()
    mpi = str(fake.mpich(tmp_path / "mpich"))
    bundle = making.make(PackRequest(tmp_path / "a.tar", mpis=(mpi,)))
    inside = members(bundle.file, bundle.top)
    shipped = "python/mpigauge/_shipped/kernels/mpich"
    plugin = "mpigauge-kernel.mpich.so"
    for name in (
        *("bin/mpigauge", "README.txt", "python/__main__.py", "python/mpigauge/cli/main.py"),
        *("python/needed/__init__.py", "python/mpigauge-1.0.dist-info/METADATA"),
        *("python/mpigauge/_source/CMakeLists.txt", "python/mpigauge/_source/schema/columns.toml"),
        *(f"{shipped}/{each.name}" for each in (built / "mpich").iterdir()),
        *(f"imb/mpigauge/{each}" for each in ("mpigauge-kernel", plugin, "mpis.txt")),
        *(f"imb/{name}" for name in imb_programs.PROGRAMS),
    ):
        assert name in inside
    assert inside["imb/IMB-MPI1"].linkname == imb_programs.LINK
    assert inside["imb/mpigauge/mpigauge-kernel"].mode == 0o755
    assert not [name for name in inside if name.endswith(".pyc") or "python/plots/" in name]
    assert bundle.needs.libc == (2, 27)
    assert bundle.libc == (2, 20)
    again = making.make(PackRequest(tmp_path / "b.tar", mpis=(mpi,)))
    assert again.file.read_bytes() == bundle.file.read_bytes()
    said = list(show.lines(bundle))
    assert any(line.endswith("kernels for mpich") for line in said)
    assert said[-1] == f"  mpirun -n 2 {bundle.top}/imb/IMB-MPI1 PingPong"


def test_a_bundle_of_a_wheel_takes_its_kernels_and_an_mpi(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert packages.is_dir()
    monkeypatch.setattr(kernel_places, "SHIPPED", tmp_path / "shipped")
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    for abi in ("mpich", "ompi"):
        kernels_at(tmp_path / "shipped" / "kernels" / abi, abi)
    fake.mpich(tmp_path / "home" / "mpi" / "mpich-5.0.2")
    bundle = making.make(PackRequest(tmp_path / "a.tar.gz", packed_mpis=("mpich",)))
    inside = members(bundle.file, bundle.top)
    assert "python/mpigauge/_shipped/kernels/ompi/cards.json" in inside
    assert inside["python/mpigauge/_shipped/mpi/mpich-5.0.2/bin/mpiexec"].mode == 0o755
    assert bundle.parts[-1].about == "mpich 5.0.2"


def test_an_mpi_that_came_in_a_bundle_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_places, "SHIPPED", tmp_path)
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    for place in ("mpi/mpich-5.0.2", "home/mpi/mpich-4.3"):
        (tmp_path / place).mkdir(parents=True)
    assert [prefix.name for prefix in wheels.installed("mpich")] == ["mpich-5.0.2", "mpich-4.3"]


def test_packages_are_refused_before_kernels_are_built(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (packages / "needed-1.0.dist-info" / "RECORD").unlink()
    monkeypatch.setattr(making, "kernels", lambda *_: pytest.fail("kernels were built"))
    mpi = str(fake.mpich(tmp_path / "mpich"))
    with pytest.raises(UserError, match="the files of the package needed"):
        making.make(PackRequest(tmp_path / "a.tar", mpis=(mpi,)))


def test_kernels_of_another_c_library_are_refused(tmp_path: Path) -> None:
    file = kernels_at(tmp_path, "mpich").cards.with_name(kernel_build.FILE)
    file.write_text(file.read_text().replace("glibc 2.20", ""))
    musl = kernel_build.kernels_in(tmp_path, "mpich", "built here")
    with pytest.raises(UserError, match=r"mpich.so is for another C library than glibc"):
        making.libc_of(musl)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (PackRequest(Path("a.zip")), "a.zip has none of the endings .tar, .tar.gz, .tar.xz"),
        (PackRequest(Path(".tar")), ".tar has none of the endings"),
        (PackRequest(Path("there.tar")), "there.tar is there already; .* replace it with --force"),
        (PackRequest(Path("folder.tar"), force=True), "folder.tar is a folder; name a file"),
        (PackRequest(Path("no/a.tar")), "there is no folder .*/no for a.tar"),
        (
            PackRequest(Path("a.tar"), packed_mpis=("path",)),
            "mpich, openmpi, intel, and 'path' is none",
        ),
        (PackRequest(Path("a.tar"), packed_mpis=("mpich",)), "mpich is not installed; run"),
        (PackRequest(Path("a.tar"), extras=("sql",)), "the package absent-db belongs into"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_is_written(
    wanted: PackRequest, says: str, packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert packages.is_dir()
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    place = tmp_path / "place"
    (place / "folder.tar").mkdir(parents=True)
    (place / "there.tar").write_text("mine")
    monkeypatch.chdir(place)
    with pytest.raises(UserError, match=says):
        making.make(wanted)
    assert sorted(path.name for path in place.iterdir()) == ["folder.tar", "there.tar"]
    assert (place / "there.tar").read_text() == "mine"


def test_what_starts_a_bundle_again_is_its_python_and_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mpigauge, "__file__", str(tmp_path / "mpigauge" / "__init__.py"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    assert own_words()[:2] == (sys.executable, "-c")
    (tmp_path / "mpigauge").touch()
    assert own_words() == (str(tmp_path / "mpigauge"),)
    (tmp_path / start.MAIN).touch()
    assert own_words() == (sys.executable, str(tmp_path))


def test_the_sources_are_those_of_a_wheel() -> None:
    assert contents.SOURCES == wheel_source.SOURCES

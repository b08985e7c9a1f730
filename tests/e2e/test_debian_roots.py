# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The wheel in clean roots of Debian: the first number comes without a question, whoever asks, with
each MPI and with none, without a network, a home, or a folder that can be written."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpigauge.cli import registry
from tests.e2e.cluster import needs_root
from tests.e2e.roots import VISITOR, Root, root
from tests.e2e.wheels import COMPILERS
from tests.wrong_words import command_of, commands_of
from tools import one_liners

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.heavy,
    pytest.mark.acceptance("debian-roots"),
    needs_root,
]

MPIGAUGE = "/opt/mpigauge/bin/mpigauge"
"""Installed by root, for everybody."""
WITH_MPI = [
    ("bookworm", "openmpi-bin"),
    ("bookworm", "mpich"),
    ("bookworm", "libopenmpi-dev"),
    ("trixie", "openmpi-bin"),
    ("trixie", "mpich"),
]
SUITES = ("bookworm", "trixie")
"""With Python 3.11 and 3.13."""
QUICK = ("quick", "--time", "8s")
LATENCY = re.compile(r"^latency, \d+ B +[\d.]+ [µn]s", re.MULTILINE)
"""Of the least size for which there was time on a machine that has much else to do."""
HOMES = {"empty": {"HOME": ""}, "missing": {"HOME": "/nonexistent"}, "read-only": {"HOME": "/"}}
ARGUMENTS = {
    "run": ["/srv/run"],
    "runs": ["/srv/run", "/srv/run"],
    "benchmark": [],
    "benchmarks": ["PingPong"],
    "collectives": ["Bcast"],
    "file": ["/srv/run/records.jsonl"],
    "files": ["/srv/run/records.jsonl"],
    "folder": ["new"],
    "folders": [],
    "form": ["csv"],
    "name": ["last"],
    "names": ["mpich"],
    "query": ["SELECT * FROM rows"],
    "shell": ["bash"],
    "what": ["run"],
    "where": ["/srv/run"],
    "word": [],
    "words": ["run", "PingPong"],
}
"""Something for each argument that a command may have, by its name."""


def installed_in(made: Root, wheel: Path) -> Root:
    """With mpigauge for everybody, and a run that was measured before where there is an MPI."""
    file = made.put(wheel)
    made.good("python3", "-m", "venv", "/opt/mpigauge", user="root")
    made.good("/opt/mpigauge/bin/pip", "install", "--quiet", file, user="root")
    return made


@pytest.fixture(scope="module", params=WITH_MPI, ids="-".join)
def site(
    wheel: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Root]:
    with root(tmp_path_factory.mktemp("site"), *request.param) as made:
        yield installed_in(made, wheel)


@pytest.fixture(scope="module")
def one_site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    """One of them, with a run that everybody can read."""
    with root(tmp_path_factory.mktemp("site"), "bookworm", "mpich") as made:
        installed_in(made, wheel)
        words = ["run", "PingPong", "--sizes", "8,64", "--launches", "2", "--output", "/srv/run"]
        made.good(MPIGAUGE, *words, user="root")
        yield made


@pytest.fixture(scope="module", params=SUITES)
def without_mpi(
    wheel: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Root]:
    with root(tmp_path_factory.mktemp("none"), request.param) as made:
        yield installed_in(made, wheel)


def first_number(made: Root, *words: str, **how: object) -> str:
    """What is printed by a command that has to measure; a question would find no answer."""
    done = made.run(*words, **how)  # type: ignore[arg-type]
    assert done.returncode == 0, done.stdout + done.stderr
    assert LATENCY.search(done.stdout), done.stdout + done.stderr
    return done.stdout + done.stderr


# --- with an MPI of Debian ----------------------------------------------------------------------
def test_there_is_no_compiler(site: Root) -> None:
    """But for the linker, which libopenmpi-dev brings."""
    there = {name for name in COMPILERS if site.run("sh", "-c", f"command -v {name}").stdout}
    assert there <= {"ld"}


def test_the_first_number_comes_to_any_user(site: Root) -> None:
    said = first_number(site, MPIGAUGE, *QUICK, "--output", "out")
    assert "on PATH as /usr/bin/mpi" in said
    assert "building the kernels" not in said
    passport = site.inside(f"/home/{VISITOR}/out/passport.json")
    assert json.loads(passport.read_text())["kernels"]["origin"] == "came with mpigauge"


def test_it_comes_to_root(site: Root) -> None:
    first_number(site, MPIGAUGE, *QUICK, user="root")


def test_it_comes_without_a_network(site: Root) -> None:
    first_number(site, MPIGAUGE, *QUICK, network=False)


@pytest.mark.parametrize("home", HOMES)
def test_it_comes_whatever_the_home_is(one_site: Root, home: str) -> None:
    """Where it cannot be written, nothing is remembered from run to run."""
    first_number(one_site, MPIGAUGE, *QUICK, cwd=f"/home/{VISITOR}", env=HOMES[home])


# --- where nothing can be written ---------------------------------------------------------------
def test_a_folder_that_cannot_be_written_is_named(one_site: Root) -> None:
    done = one_site.run(MPIGAUGE, *QUICK, cwd="/", env={"HOME": "/"})
    assert done.returncode == 2
    assert "latency" not in done.stdout
    (line,) = done.stderr.splitlines()
    assert "cannot make a folder for the run below mpigauge-runs: Permission denied" in line
    assert "--output" in line


@pytest.mark.parametrize("user", [VISITOR, "root"])
def test_it_comes_where_only_one_folder_can_be_written(one_site: Root, user: str) -> None:
    where = f"/dev/shm/mpigauge-{user}-{os.getpid()}"
    one_site.good("mkdir", where, user=user)
    try:
        first_number(one_site, MPIGAUGE, *QUICK, user=user, cwd=where, read_only=True)
    finally:
        one_site.good("rm", "-r", where, user=user)


@pytest.mark.parametrize("user", [VISITOR, "root"])
@pytest.mark.parametrize("given", ["nothing", "arguments"])
def test_no_command_ends_with_a_traceback(one_site: Root, given: str, user: str) -> None:
    """Every command of the registry, where whoever it is can write nothing but /dev/shm."""
    ended = {}
    for name in registry.COMMANDS:
        for words in commands_of(registry.COMMANDS[name], (name,)):
            more = arguments_of(words) if given == "arguments" else []
            call = ["timeout", "60", MPIGAUGE, *words, *more]
            done = one_site.run(*call, user=user, cwd="/", read_only=True, env={"HOME": "/"})
            said = done.stdout + done.stderr
            assert "Traceback" not in said, f"{words}: {said}"
            assert done.returncode in (0, 1, 2), f"{words}: {said}"
            ended[words] = done.returncode
    assert 0 in ended.values()


def arguments_of(words: tuple[str, ...]) -> list[str]:
    """Something for each."""
    found = [p for p in command_of(words).params if p.param_type_name == "argument"]
    return [word for each in found for word in ARGUMENTS[str(each.name)]]


# --- without any MPI ----------------------------------------------------------------------------
def test_an_mpi_is_fetched_where_there_is_none(without_mpi: Root) -> None:
    said = first_number(without_mpi, MPIGAUGE, *QUICK)
    assert "no MPI is here, so mpich is fetched" in said
    assert f"installed by mpigauge in /home/{VISITOR}/.local/share" in " ".join(said.split())
    said = first_number(without_mpi, MPIGAUGE, *QUICK, user="root")
    assert "no MPI is here, so mpich is fetched" in said
    with_root = first_number(without_mpi, MPIGAUGE, *QUICK, env={"HOME": "/nonexistent"})
    assert "installed by mpigauge in /opt/mpigauge/share" in " ".join(with_root.split())


def test_one_line_says_what_to_do_without_an_mpi_and_a_network(wheel: Path, tmp_path: Path) -> None:
    with root(tmp_path, "bookworm") as made:
        installed_in(made, wheel)
        done = made.run(MPIGAUGE, *QUICK, network=False)
    assert done.returncode == 2
    assert done.stdout == ""
    *_, line = done.stderr.splitlines()
    assert line.startswith("mpigauge: no MPI found, and cannot download mpich")
    assert "Traceback" not in done.stderr


# --- where Python is too old --------------------------------------------------------------------
@pytest.fixture(scope="module")
def bundle(one_site: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    one_site.good(MPIGAUGE, "bundle", "--output", f"/home/{VISITOR}/mpigauge.tar")
    copy = tmp_path_factory.mktemp("bundle") / "mpigauge.tar"
    shutil.copy(one_site.inside(f"/home/{VISITOR}/mpigauge.tar"), copy)
    return copy


@pytest.mark.parametrize("package", ["mpich", "openmpi-bin"])
def test_debian_11_has_the_programs_of_imb(
    package: str, wheel: Path, bundle: Path, tmp_path: Path
) -> None:
    """pip says why it refuses; the bundle's programs do without any Python."""
    with root(tmp_path, "bullseye", package) as made:
        made.good("python3", "-m", "venv", "env")
        done = made.run("env/bin/pip", "install", made.put(wheel))
        assert done.returncode != 0
        assert "requires a different Python: 3.9" in done.stderr
        made.good("sh", "-c", "rm /usr/bin/python3*", user="root")
        made.good("tar", "-xf", made.put(bundle))
        start = "mpirun -n 2 mpigauge-*/imb/IMB-MPI1 PingPong -msglog 3:4 -iter 10"
        said = made.good("sh", "-c", start)
    assert len(re.findall(r"^ +\d+ +10 ", said, re.MULTILINE)) == 3


# --- as README says it --------------------------------------------------------------------------
@pytest.fixture(scope="module", params=SUITES)
def with_tools(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Root]:
    """pipx and uv from the package index, and no MPI."""
    with root(tmp_path_factory.mktemp("tools"), request.param) as made:
        made.good("python3", "-m", "venv", "/opt/tools", user="root")
        made.good("/opt/tools/bin/pip", "install", "--quiet", "pipx", "uv", user="root")
        yield made


@pytest.mark.parametrize("line", one_liners.lines("{wheel}"))
def test_one_line_is_enough(line: str, with_tools: Root, wheel: Path) -> None:
    """Each as another user, as who has installed one does not need the next."""
    user = f"user{one_liners.lines('{wheel}').index(line)}"
    with_tools.add_user(user)
    file = with_tools.put(wheel)
    path = {"PATH": f"/home/{user}/.local/bin:/opt/tools/bin:/usr/bin:/bin"}
    words = shlex.split(line.format(wheel=file))
    done = with_tools.run(*words, user=user, env=path)
    assert done.returncode == 0, done.stdout + done.stderr
    if "quick" in words:
        assert LATENCY.search(done.stdout), done.stdout + done.stderr
        return
    done = with_tools.run("mpigauge", "mpi", "install", "openmpi", user=user, env=path)
    assert done.returncode == 0, done.stderr
    first_number(with_tools, "mpigauge", *QUICK, user=user, env=path)

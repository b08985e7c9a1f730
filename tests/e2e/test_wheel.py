# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The wheel with kernels inside: built as `make wheel` does it, installed where there is nothing
but Python, and used without a compiler and without any extra.

MPIGAUGE_WHEEL=FILE takes one that `make wheel` has built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mpigauge.site.mpi import find
from tests import patience
from tests.conftest import ABIS, MPIS
from tests.e2e.commands import ROUGH
from tests.e2e.debian import installed, needs_root
from tests.e2e.wheels import COMPILERS, builder, program

pytestmark = [pytest.mark.mpi, pytest.mark.heavy, pytest.mark.acceptance("wheel")]
DEBIAN = [("mpich", "/usr/bin/mpirun.mpich"), ("openmpi-bin", "/usr/bin/mpirun.openmpi")]
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
OURS = ("PYTHONPATH", "MPIGAUGE_HOME", "MPIGAUGE_CACHE")
"""Variables of the environment that runs the tests."""
WITH_A_RUN = (
    "ls", "show last", "show last --format csv", "explain last",
    "model last", "report last -o page.html", "plot last latency -o latency.svg",
    "share last -o run.mpigauge", "import run.mpigauge --output again", "compare last last",
    "topo",
)  # fmt: skip
"""What works without any extra, said of a run."""


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of who has installed the wheel alone, on a machine without compilers."""
    folder = tmp_path_factory.mktemp("bare")
    program([sys.executable, "-m", "venv", str(folder / "venv")])
    pip = [str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet"]
    program([*pip, str(wheel)], PYTHONPATH="")
    tools = folder / "tools"
    tools.mkdir()
    for place in ("/usr/bin", "/bin"):
        for path in Path(place).iterdir():
            name = path.name.partition("-1")[0].rpartition("linux-gnu-")[2]
            if name not in COMPILERS and not (tools / path.name).exists():
                (tools / path.name).symlink_to(path)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {
        "PATH": f"{folder / 'venv/bin'}:{tools}",
        "MPIGAUGE_CACHE": str(folder / "cache"),
        "HOME": str(folder),
    }


SIZES = """
import json
from importlib import metadata

sizes = {}
for each in metadata.distributions():
    name = each.metadata["Name"].lower()
    if name not in ("pip", "setuptools"):
        files = [file for file in each.files if file.suffix != ".pyc"]
        sizes[name] = sum(file.locate().stat().st_size for file in files)
print(json.dumps(sizes))
"""
"""Bytes of each distribution that is installed, but for those of every environment."""


def mpigauge(
    words: list[str], env: dict[str, str], cwd: Path, seconds: float = patience.USUAL_S
) -> subprocess.CompletedProcess[str]:
    command = shutil.which("mpigauge", path=env["PATH"])
    assert command is not None
    return patience.run([command, *words], seconds=seconds, env=env, cwd=cwd)


def good(words: list[str], env: dict[str, str], cwd: Path) -> str:
    done = mpigauge(words, env, cwd)
    assert done.returncode == 0, " ".join(words) + "\n" + done.stdout + done.stderr
    return done.stdout


def test_it_is_small_and_runs_on_old_systems(wheel: Path, repository: Path, tmp_path: Path) -> None:
    machine = os.uname().machine
    python = builder(repository, tmp_path)
    said = program(
        [str(python), str(repository / "tools/check_wheel.py"), str(wheel.parent), machine]
    )
    for part in ("kernels/mpich", "kernels/ompi", "kernels/std", "profiler", "translation"):
        assert f"_shipped/{part}" in said


def test_what_it_installs_is_below_100_mb(bare: dict[str, str]) -> None:
    """All files of mpigauge and of what it needs; bytecode, which pip makes of them and uv does
    not, is a quarter more."""
    python = shutil.which("python", path=bare["PATH"])
    assert python is not None
    sizes = json.loads(program([python, "-c", SIZES], PYTHONPATH=""))
    assert {"mpigauge", "numpy", "rich", "click", "jinja2"} <= set(sizes)
    assert sum(sizes.values()) < 100_000_000, sizes


def test_there_is_no_compiler(bare: dict[str, str]) -> None:
    assert [name for name in COMPILERS if shutil.which(name, path=bare["PATH"])] == []


@pytest.mark.parametrize("spec", ABIS)
def test_a_benchmark_runs(spec: str, bare: dict[str, str], tmp_path: Path) -> None:
    words = ["run", "PingPong", "Allreduce", "--mpi", spec, "--sizes", "0,64Ki", "--launches", "1"]
    good([*words, "--output", "out"], bare, tmp_path)
    known = json.loads((tmp_path / "out" / "passport.json").read_text())["kernels"]
    assert known["origin"] == "came with mpigauge"
    assert known["libc"] == "glibc 2.17"
    assert known["sources"]
    assert not list(Path(bare["MPIGAUGE_CACHE"]).glob("kernels/*"))


def test_the_first_number_comes_and_all_that_needs_no_extra_works(
    bare: dict[str, str], tmp_path: Path
) -> None:
    assert "latency, 0 B" in good(["quick", *ROUGH], bare, tmp_path)
    for line in WITH_A_RUN:
        good(line.split(), bare, tmp_path)
    checked = mpigauge(["check", "last", "--against", "last"], bare, tmp_path)
    assert checked.stdout, checked.stderr  # the verdict is the machine's, and may be any
    assert (tmp_path / "page.html").stat().st_size > 10_000
    for words in (["sql", "SELECT 1"], ["browse"], ["plot", "last", "latency", "-o", "a.png"]):
        done = mpigauge(words, bare, tmp_path)
        assert done.returncode == 2
        assert "mpigauge[" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("spec", MPIS)
def test_a_program_is_profiled(spec: str, bare: dict[str, str], tmp_path: Path) -> None:
    """The program is mpigauge's own kernel, through the preloaded library."""
    mpi = find(spec)
    place = program_of("kernels", bare) / mpi.abi
    words = [str(place / "mpigauge-kernel"), "--libmpi", str(mpi.library)]
    words += ["--plugin", str(place / f"mpigauge-kernel.{mpi.abi}.so")]
    words += ["--benchmarks", "PingPong", "--sizes", "8", "--seconds", "0.2"]
    done = mpigauge(["profile", "--mpi", spec, "--np", "2", "--", *words], bare, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "of the run time" in done.stdout + done.stderr


@pytest.mark.parametrize("version", PYTHONS)
def test_each_python_that_is_here(version: str, wheel: Path, tmp_path: Path) -> None:
    """Debian 12 and 13, which tests/e2e/test_debian_roots.py makes, have 3.11 and 3.13."""
    python = f"python{version}"
    if not shutil.which(python) or patience.run([python, "-c", ""]).returncode != 0:
        pytest.skip(f"there is no {python} here")
    program([python, "-m", "venv", str(tmp_path / "venv")])
    program([str(tmp_path / "venv/bin/pip"), "install", "--quiet", str(wheel)], PYTHONPATH="")
    env = {name: value for name, value in os.environ.items() if name not in OURS}
    env["PATH"] = f"{tmp_path / 'venv/bin'}:{env['PATH']}"
    good(["mpi", "install", "mpich"], env, tmp_path)
    assert "latency, " in good(["quick", *ROUGH], env, tmp_path)


@needs_root
@pytest.mark.parametrize(("package", "launcher"), DEBIAN)
def test_debians_mpi_that_only_runs(
    package: str, launcher: str, bare: dict[str, str], tmp_path: Path
) -> None:
    """No headers, and an Open MPI that is older than some calls that kernels know."""
    command = shutil.which("mpigauge", path=bare["PATH"])
    assert command is not None
    (tmp_path / "debian").mkdir()
    with installed(tmp_path / "debian", package) as machine:
        set_up = [f"{name}={bare[name]}" for name in ("PATH", "HOME", "MPIGAUGE_CACHE")]
        words = [command, "run", "PingPong", "NODE:Line", "Allreduce", "--mpi", launcher]
        words += ["--sizes", "0,64Ki", "--launches", "1", "--oversubscribe", "--output", "out"]
        allow = ["OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"]
        done = machine.run("env", "-u", "PYTHONPATH", *set_up, *allow, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    known = json.loads((tmp_path / "out" / "passport.json").read_text())["kernels"]
    assert known["origin"] == "came with mpigauge"


def program_of(name: str, env: dict[str, str]) -> Path:
    """A folder of what the wheel brought."""
    python = shutil.which("python", path=env["PATH"])
    assert python is not None
    text = "from mpigauge.site.builds.kernel_places import SHIPPED; print(SHIPPED)"
    done = patience.run([python, "-c", text], env=env)
    return Path(done.stdout.strip()) / name

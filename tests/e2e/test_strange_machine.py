# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Unit tests pass whatever the machine has installed and whoever runs them.

Those that look at the environment run once more where there are MPIs of the system on PATH,
modules, settings of MPIs, another locale, a home that is not there, and a umask that shuts others
out: with two MPIs that are made up, and as root with Debian's own and their alternatives as well.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tests import mpi_fakes as fake
from tests import patience
from tests.e2e.cluster import why_not
from tests.e2e.debian import installed

if TYPE_CHECKING:
    from pathlib import Path

LOOK_AROUND = {
    "process": ("mpi_find", "mpi_listing", "mpi_build", "mpi_install", "mpi_imb", "compilers"),
    "unit": ("settings", "transports", "cli", "submit", "store", "terminal", "hosts", "products"),
}
"""Tests of what looks for programs, folders, variables or the user, by their folders."""
STRANGE = {
    "LC_ALL": "POSIX",
    "HOME": "/nonexistent",
    "XDG_DATA_HOME": "/proc/none",
    "MODULEPATH": "/nonexistent",
    "OMPI_MCA_btl": "nothing",
    "I_MPI_FABRICS": "nothing",
    "SLURM_JOB_ID": "1",
    "COLUMNS": "20",
    "TZ": "Pacific/Kiritimati",
}


def command(repository: Path, folder: Path) -> list[str]:
    tests = []
    for part, names in LOOK_AROUND.items():
        for name in names:
            (file,) = (repository / "tests" / part).rglob(f"test_{name}.py")
            tests.append(str(file))
    start = f'umask 077 && cd {repository} && exec "$@"'
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return ["sh", "-c", start, "sh", *pytest_, f"--basetemp={folder / 'tests'}", *tests]


def test_in_a_strange_environment(repository: Path, tmp_path: Path) -> None:
    """As root, a test that empties PATH finds Debian's mpirun.openmpi by the alternatives."""
    fake.openmpi(tmp_path / "ompi")
    fake.mpich(tmp_path / "mpich")
    path = f"{os.environ['PATH']}:{tmp_path}/ompi/bin:{tmp_path}/mpich/bin"
    settings = (f"{name}={value}" for name, value in {**STRANGE, "PATH": path}.items())
    words = ["env", *settings, *command(repository, tmp_path)]
    if why_not():
        done = patience.run(words, cwd=tmp_path, seconds=600)
    else:
        (tmp_path / "debian").mkdir()
        with installed(tmp_path / "debian", "mpich", "openmpi-bin") as machine:
            there = machine.run("update-alternatives", "--list", "mpirun", cwd=tmp_path)
            assert len(there.stdout.split()) == 2, there.stderr
            done = machine.run(*words, cwd=tmp_path, seconds=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]

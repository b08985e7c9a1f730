# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""MPIs that we cannot run, found in trees like those in which conda, IBM and Cray install them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.registry import Here
from mpigauge.model.toml import parse_toml
from mpigauge.site import launch
from mpigauge.site.launch import Job
from mpigauge.site.mpi import find, list_all
from mpigauge.site.mpi.listing import everything
from tests import mpi_fakes as fake

FILE = Path(__file__).parents[3] / "data" / "mpi_layouts.toml"
LAYOUTS: dict[str, dict[str, Any]] = parse_toml(FILE.read_text(), FILE.name)
WORDS = {"hydra": fake.HYDRA, "openmpi": fake.PRTE}
OF_CRAY = "Cray MPICH for GNU compilers"


@pytest.fixture(autouse=True)
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that is on PATH: a compiler, a shell, and Slurm's srun."""
    folder = tmp_path / "tools"
    for name in ("sh", "echo", "g++", "c++", "as", "ld"):
        folder.mkdir(exist_ok=True)
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    fake.program(folder / "srun", "#!/bin/sh\necho slurm 23.11.4\n")
    monkeypatch.setenv("MPIGAUGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    return folder


def lay(root: Path, layout: dict[str, Any]) -> Path:
    """The prefix, with a library that answers and launchers that say what they are."""
    prefix = root / str(layout["prefix"])
    more = 'extern "C" { int ompi_mpi_comm_world; }' if layout["abi"] == "ompi" else ""
    for name in layout["files"]:
        path = prefix / name
        if name.startswith("bin/"):
            fake.program(path, WORDS[layout["launcher"]])
        elif ".so." in name and "mpi" in path.name and "fort" not in path.name:
            fake.library(path, layout["says"], more=more)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fake.OMPI_HEADER if layout["abi"] == "ompi" else fake.HEADER)
    for link in layout["links"]:
        name, _, target = link.partition(" -> ")
        (prefix / name).symlink_to(target)
    return prefix


@pytest.mark.parametrize("name", LAYOUTS)
def test_it_is_found_by_its_folder(name: str, tmp_path: Path) -> None:
    layout = LAYOUTS[name]
    prefix = lay(tmp_path, layout)
    mpi = find(str(prefix))
    assert (mpi.label, mpi.abi, mpi.launcher) == (layout["name"], layout["abi"], layout["launcher"])
    assert mpi.library == prefix / layout["library"]
    assert mpi.include == prefix / "include"
    assert find(mpi.spec).library == mpi.library


def test_that_of_a_loaded_module_of_cray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = lay(tmp_path, LAYOUTS[OF_CRAY])
    monkeypatch.setenv("CRAY_MPICH_DIR", str(prefix))
    mpi = find()
    assert (mpi.name, mpi.launcher, mpi.found) == ("cray-mpich", "srun", "named by CRAY_MPICH_DIR")
    assert list_all().mpis == (mpi,)
    (listed,) = everything().listed
    assert listed.mpi == mpi
    assert listed.abis == ("mpich",)


def test_a_launcher_on_path_comes_before_what_cray_has_loaded(
    tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAY_MPICH_DIR", str(lay(tmp_path, LAYOUTS[OF_CRAY])))
    prefix = fake.mpich(tmp_path / "site")
    monkeypatch.setenv("PATH", f"{prefix / 'bin'}:{tools}")
    assert find().prefix == prefix
    assert {mpi.name for mpi in list_all().mpis} == {"mpich"}
    assert {each.mpi.name for each in everything().listed} == {"mpich", "cray-mpich"}


def test_without_slurm_it_is_no_mpi_that_could_be_started(tmp_path: Path, tools: Path) -> None:
    prefix = lay(tmp_path, LAYOUTS[OF_CRAY])
    (tools / "srun").unlink()
    with pytest.raises(UserError, match=r"there is no bin/mpiexec and no bin/mpirun in .*12\.3"):
        find(str(prefix))


def test_its_ranks_are_started_by_srun_in_a_job_only(tmp_path: Path) -> None:
    mpi = find(str(lay(tmp_path, LAYOUTS[OF_CRAY])))
    words = launch.command(Job(mpi, 2, ("p",))).words
    assert words[:4] == ("srun", "--mpi=cray_shasta", "--ntasks=2", "--nodes=1")
    assert launch.cannot_start(mpi, Here("slurm")) == ""
    assert launch.cannot_start(mpi, Here()).startswith(
        "cray-mpich 8.1.29.5 is started by srun, which starts ranks in a job of Slurm, and this is"
    )

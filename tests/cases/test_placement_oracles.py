# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Our placements on machines that are only files, against those of PRRTE and Hydra on the same.

Both launchers plan on the topology that HWLOC_XMLFILE names. PRRTE prints its map and launches
nothing; Hydra starts a program and prints what it would bind it to. The program has to live for a
moment: Hydra loses ranks that end at once.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from mpigauge.model import cpu_lists
from mpigauge.model.errors import UserError
from mpigauge.model.mpi import Mpi
from mpigauge.site import launch, placement, topology
from mpigauge.site.launch import Job
from mpigauge.site.mpi import find
from mpigauge.site.placement import HostResources
from tests import patience

pytestmark = pytest.mark.mpi
MACHINES = Path(__file__).resolve().parents[1] / "machines"
ROME, SKYLAKE, POWER = "epyc-rome-2s-nps4", "skylake-2s-snc-off", "power9-2s-smt4"
HOST = socket.gethostname()
Cores = list[frozenset[int]]


def site(name: str) -> HostResources:
    return HostResources(HOST, topology.built(MACHINES / f"{name}.xml"))


def whole_cores(
    name: str, text: str, ranks: int | None, files: Mapping[str, str] | None = None
) -> Cores:
    """Our placement, each PU with its siblings: launchers bind to whole cores."""
    here = site(name)
    (found,) = placement.place(text, [here], ranks or 2, ranks, files)
    around = here.levels.around
    return [frozenset[int]().union(*(around[pu]["core"] for pu in s.pus)) for s in found.seats]


def installed(name: str) -> Mpi:
    try:
        return find(name)
    except UserError as error:
        pytest.skip(str(error))


def said(words: list[str], name: str, **env: str) -> str:
    xml = {"HWLOC_XMLFILE": str(MACHINES / f"{name}.xml")}
    done = patience.run(words, env={**os.environ, **xml, **env})
    return done.stdout + done.stderr


def prrte(name: str, *options: str) -> Cores:
    """PRRTE names logical cores: `Binding: package[1][core:L64]`."""
    cores = site(name).levels.usable_groups("core")
    logical = [cpu_lists.parse_list(each) for each in bindings(name, "core", *options)]
    return [frozenset[int]().union(*(cores[core] for core in each)) for each in logical]


def bindings(name: str, what: str, *options: str) -> list[str]:
    """What PRRTE binds each rank to, by its logical number."""
    mpi = installed("openmpi")
    if not mpi.version.startswith("5."):
        pytest.skip("only Open MPI 5 starts with PRRTE")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    fixed = ("--rtos", "donotlaunch", "--display", "map-devel", "true")
    here = {"HWLOC_THISSYSTEM": "1"}  # else it plans and does not bind
    text = said([str(mpi.mpiexec), *options, *fixed], name, **mpi.env, **root, **here)
    found = re.findall(rf"Binding: package\[\d+\]\[{what}:L([\d,-]+)\]", text)
    assert found, text
    return [str(each) for each in found]


def hydra(name: str, ranks: int, *options: str) -> Cores:
    """Hydra prints a digit for each PU: `process 0 binding: 0100…`."""
    mpi = installed("mpich")
    words = [str(mpi.mpiexec), "-n", str(ranks), *options, "sleep", "0.5"]
    text = said(words, name, HYDRA_TOPO_DEBUG="1", **mpi.env)
    found = sorted((int(n), bits) for n, bits in re.findall(r"process (\d+) binding: (\d+)", text))
    assert len(found) == ranks, text
    return [frozenset(pu for pu, bit in enumerate(bits) if bit == "1") for _, bits in found]


@pytest.mark.parametrize(
    ("ours", "ranks", "theirs"),
    [
        ("compact", 6, "-np 6 --map-by core --bind-to core"),
        ("scatter", 2, "-np 2 --map-by package:span --bind-to core"),
        ("sockets", None, "-np 2 --map-by ppr:1:package --bind-to core"),
        ("ppr:2:socket", None, "--map-by ppr:2:package --bind-to core"),
        ("ppr:1:numa", None, "--map-by ppr:1:numa --bind-to core"),
        ("ppr:1:l3", None, "--map-by ppr:1:l3cache --bind-to core"),
        ("ppr:1:node", None, "--map-by ppr:1:node --bind-to core"),
    ],
)
@pytest.mark.parametrize("name", [ROME, SKYLAKE])
def test_prrte_places_alike(name: str, ours: str, ranks: int | None, theirs: str) -> None:
    assert whole_cores(name, ours, ranks) == prrte(name, *theirs.split())


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("l3", "-np 2 --map-by core --bind-to core"),
        ("numa", "-np 2 --map-by l3cache --bind-to core"),
        ("socket", "-np 2 --map-by numa --bind-to core"),
        ("cores:0,16,64,96", "-np 4 --map-by pe-list=0,16,64,96:ordered"),
        ("ppr:2:l3", "--map-by ppr:2:l3cache --bind-to core"),
    ],
)
def test_prrte_on_rome_places_alike(ours: str, theirs: str) -> None:
    assert whole_cores(ROME, ours, None) == prrte(ROME, *theirs.split())


@pytest.mark.parametrize("name", [ROME, SKYLAKE, POWER])
def test_prrte_gives_the_threads_that_it_is_told(name: str) -> None:
    """Those of these numbers of the system, which on Skylake are not hwloc's."""
    pus = [pu for core in site(name).levels.usable_groups("core") for pu in sorted(core)]
    told = (17, 1, 8, 0)
    job = Job(installed("openmpi"), len(told), (), bind=tuple((core,) for core in told))
    words = launch.command(job).words
    options = words[words.index("--bind-to") : words.index("--map-by") + 2]
    found = bindings(name, "hwt", "-np", str(len(told)), *options)
    assert tuple(pus[int(logical)] for logical in found) == told


def test_hydra_gives_the_threads_that_it_is_told() -> None:
    told = ((17, 2), (1,), (8,), (0,))
    options = launch.command(Job(installed("mpich"), 4, (), bind=told)).words[1:3]
    assert hydra(SKYLAKE, 4, *options) == [frozenset(each) for each in told]


@pytest.mark.parametrize("name", [ROME, SKYLAKE, POWER])
def test_prrte_reads_a_rankfile_alike(name: str, tmp_path: Path) -> None:
    slots = ("0", "1:3", "4-5", "7,9", "1:0-1", "0:10")
    file = tmp_path / "ranks"
    lines = "".join(f"rank {i}={HOST} slot={s}\n" for i, s in enumerate(slots))
    file.write_text(lines)
    theirs = prrte(name, "-np", str(len(slots)), "--map-by", f"rankfile:file={file}")
    ours = whole_cores(name, f"rankfile:{file}", None, {str(file): lines})
    assert ours == theirs


@pytest.mark.parametrize(
    ("ours", "ranks", "theirs"),
    [
        ("compact", 6, "-bind-to core"),
        ("scatter", 2, "-bind-to core -map-by socket"),
        ("ppr:1:numa", 8, "-bind-to core -map-by numa"),
        ("ppr:1:l3", 32, "-bind-to core -map-by l3cache"),
        ("l3", 2, "-bind-to core"),
        ("numa", 2, "-bind-to core -map-by l3cache"),
        ("socket", 2, "-bind-to core -map-by numa"),
        ("sockets", 2, "-bind-to core -map-by socket"),
        ("cores:0,16,64,4+5", 4, "-bind-to user:0,16,64,4+5"),
    ],
)
def test_hydra_on_rome_places_alike(ours: str, ranks: int, theirs: str) -> None:
    assert whole_cores(ROME, ours, ranks) == hydra(ROME, ranks, *theirs.split())


@pytest.mark.parametrize(
    ("ours", "ranks", "theirs"),
    [
        ("compact", 5, "-bind-to core"),
        ("scatter", 6, "-bind-to core -map-by socket"),
        ("l3", 2, "-bind-to core"),
        ("sockets", 2, "-bind-to core -map-by socket"),
    ],
)
def test_hydra_with_smt_places_alike(ours: str, ranks: int, theirs: str) -> None:
    assert whole_cores(SKYLAKE, ours, ranks) == hydra(SKYLAKE, ranks, *theirs.split())


@pytest.mark.parametrize(("ours", "theirs"), [("nic-near", "ib0"), ("nic-near:eth0", "eth0")])
def test_hydra_finds_the_same_cores_next_to_a_card(ours: str, theirs: str) -> None:
    """It binds to the whole NUMA node; as many ranks as it has cores fill just that."""
    (near,) = hydra(ROME, 1, "-bind-to", theirs)
    assert frozenset[int]().union(*whole_cores(ROME, ours, len(near))) == near

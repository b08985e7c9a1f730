# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge topo`: the page and the JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from mpigauge.cli.main import run
from mpigauge.products.quick.measuring import machine_line
from mpigauge.show.topology.machine import distance_lines, page, short_list
from mpigauge.show.topology.picture import picture
from mpigauge.site import topology

MACHINES = Path(__file__).resolve().parents[3] / "machines"
ALL = sorted(path for path in MACHINES.iterdir() if path.suffix in (".txt", ".xml"))

CONTAINER = """\
4f1c2d3e5a6b · Intel(R) Xeon(R) Silver 4208 CPU @ 2.10GHz · x86_64
2 sockets · 2 NUMA nodes · 16 cores

May be used: PU 0-3,8-11. In brackets: 8 PUs that the cpuset or the affinity excludes.

socket 0  8 cores
  NUMA 0  memory unknown
    L3 11 MiB  0-3 [4-7]

socket 1  8 cores
  NUMA 1  memory unknown
    L3 11 MiB  8-11 [12-15]

each core: L1d 32 KiB, L1i 32 KiB, L2 1 MiB

Distances of two ranks, and the number of pairs of cores at each (--place):
  l3       12  cores that share an L3 cache
  sockets  16  cores of different sockets"""


def lines(name: str, width: int = 96) -> list[str]:
    return page(topology.built(MACHINES / name), width)


def test_a_whole_page() -> None:
    assert "\n".join(lines("container-cgroup-v2.txt")) == CONTAINER


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
@pytest.mark.parametrize("width", [60, 120])
def test_every_machine_has_a_page_that_fits(path: Path, width: int) -> None:
    """Lines of cores are broken; names of cards and sentences are not."""
    text = page(topology.built(path), width)
    assert text[1].split(" · ")[0].endswith(("socket", "sockets"))
    assert all(len(line) <= width for line in text if " | " in line)


def test_cards_stand_beside_their_numa_node() -> None:
    text = lines("epyc-rome-2s-nps4.xml")
    assert "  NUMA 6  64.0 GiB  mlx5_0 (ib0, 0000:c1:00.0)" in text
    assert "  NUMA 0  64.0 GiB  eth0 (0000:61:00.0)" in text


def test_distances_are_a_table() -> None:
    text = lines("power9-2s-smt4.xml")
    table = text.index("       0  8")
    assert text[table + 1 : table + 3] == ["   0  10 40", "   8  40 10"]


def test_kinds_of_cores_have_a_line_each() -> None:
    text = "\n".join(lines("desktop-i9-12900k.xml"))
    assert "16 cores · up to 2 hardware threads each" in text
    assert "PU 0-15: performance, L1d 48 KiB, L1i 32 KiB, L2 1.25 MiB" in text
    assert "PU 16-23: efficient, L1d 32 KiB, L1i 64 KiB, L2 2 MiB for 4 cores" in text


def test_what_is_left_out_is_said() -> None:
    text = "\n".join(lines("epyc-7402p-cpuset.xml"))
    assert "Left out: PU 0,8-24,32-47, offline or not in the cpuset" in text


def test_memory_that_may_not_be_used_is_said() -> None:
    rome = topology.built(MACHINES / "epyc-rome-2s-nps4.xml")
    text = page(replace(rome, allowed_numa=frozenset({0, 1, 2, 3})))
    assert "Memory of NUMA node 4-7 may not be used." in text


def test_a_card_whose_place_is_unknown_is_named() -> None:
    rome = topology.built(MACHINES / "epyc-rome-2s-nps4.xml")
    lost = replace(rome.devices[0], pus=frozenset(), numa=None)
    assert "mlx5_0 (ib0, 0000:c1:00.0)  place unknown" in page(replace(rome, devices=(lost,)))


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_the_matrix_of_distances(path: Path) -> None:
    """A row for each NUMA node, as `numactl -H` prints it, in text and in the picture."""
    machine = topology.built(path)
    numbers = [str(node.number) for node in machine.numa]
    matrix = [line.split() for line in distance_lines(machine)[1:]]
    rows = zip(numbers, machine.distances, strict=bool(machine.distances))
    assert matrix == ([numbers] if machine.distances else []) + [
        [number, *map(str, row)] for number, row in rows
    ]
    drawn = picture(machine)
    for line in distance_lines(machine):
        assert line in page(machine)
        assert f">{line}</text>" in drawn


def test_machines_with_distances_are_among_them() -> None:
    counts = {path.name: len(topology.built(path).distances) for path in ALL}
    assert {1, 2, 5, 8} <= set(counts.values())


def test_cores_without_a_numa_node() -> None:
    text = page(topology.built(MACHINES / "opteron-8s-cpuset.xml"))
    assert text[1] == "6 sockets · 5 NUMA nodes · 10 cores · 40.0 GiB"
    at = text.index("socket 0  2 cores")
    assert text[at : at + 3] == ["socket 0  2 cores", "  no NUMA node", "    cores  0-1"]
    assert "NUMA 5  8.0 GiB  no cores" in text


def test_one_core_gives_no_pair() -> None:
    text = lines("vm-one-core-cgroup-v1.txt")
    assert "There are no two cores that may be used, so no pair of ranks can be placed." in text


def test_long_lists_with_one_step_are_shortened() -> None:
    assert short_list(range(0, 80, 2)) == "0,2…78"
    assert short_list([0, 2, 4]) == "0,2,4"
    assert short_list([*range(0, 40, 2), 41]) == ",".join(map(str, [*range(0, 40, 2), 41]))


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["topo", "--from", str(MACHINES / "arm-raspberry-pi-4.xml")]) == 0
    assert capsys.readouterr().out.startswith("raspberrypi · Cortex-A72 · aarch64\n")
    assert run(["topo"]) == 0
    assert topology.read().hostname in capsys.readouterr().out


def test_json_holds_all_that_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["topo", "--json", "--from", str(MACHINES / "power9-2s-smt4.xml")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["distances"] == [[10, 40], [40, 10]]
    assert found["pus"][5] == {
        "number": 5, "core": 1, "package": 0, "numa": 0, "capacity": None, "kind": "",
    }  # fmt: skip
    assert found["levels"]["l2"][0] == list(range(8))
    assert found["devices"][0]["also"] == ["ib0"]
    assert "load" not in found


def test_sockets_have_one_name(repository: Path) -> None:
    """hwloc calls them packages; users, Slurm and our --place do not."""
    machine = topology.read(repository / "tests" / "machines" / "epyc-7302-two-sockets.txt")
    setup = SimpleNamespace(machine=machine, mpi=SimpleNamespace(label="mpich 5.0.2"))
    assert " · 2 sockets · " in machine_line([setup])  # type: ignore[list-item]
    assert page(machine, 96)[1].startswith("2 sockets · ")

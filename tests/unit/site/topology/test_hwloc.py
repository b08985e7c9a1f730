# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Machines as hwloc writes them: what is read, and which levels they have."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from mpigauge.cli.main import run
from mpigauge.model.cpu_lists import as_list, parse_bitmap
from mpigauge.model.errors import UserError
from mpigauge.model.topology import Topology
from mpigauge.site import topology
from mpigauge.site.topology.hwloc import read_xml
from mpigauge.site.topology.levels import Levels

MACHINES = Path(__file__).resolve().parents[3] / "machines"
XMLS = sorted(path.stem for path in MACHINES.glob("*.xml"))
ALL = sorted(path for path in MACHINES.iterdir() if path.suffix in (".txt", ".xml"))


def machine(name: str) -> Topology:
    return read_xml(MACHINES / f"{name}.xml")


def sizes(name: str) -> tuple[int, ...]:
    it = machine(name)
    return len(it.pus), it.cores, it.packages, it.numa_nodes, it.threads_per_core


def changed(tmp_path: Path, name: str, *changes: tuple[str, str]) -> Path:
    """A fixture in which each text is replaced; it has to be there."""
    text = (MACHINES / f"{name}.xml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "changed.xml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("arm-raspberry-pi-4", (4, 4, 1, 1, 1)),
        ("desktop-i9-12900k", (24, 16, 1, 1, 2)),
        ("epyc-7402p-cpuset", (14, 7, 1, 1, 2)),
        ("epyc-rome-2s-nps4", (128, 128, 2, 8, 1)),
        ("opteron-8s-cpuset", (10, 10, 6, 5, 1)),
        ("power9-2s-smt4", (160, 40, 2, 2, 4)),
        ("skylake-2s-snc-off", (80, 40, 2, 2, 2)),
        ("vm-epyc-2-cores", (2, 2, 1, 1, 1)),
        ("xeon-max-hwloc3", (16, 8, 2, 2, 2)),
    ],
)
def test_pus_cores_sockets_numa_nodes_threads(name: str, expected: tuple[int, ...]) -> None:
    assert sizes(name) == expected


def test_every_xml_is_tested() -> None:
    marks = test_pus_cores_sockets_numa_nodes_threads.pytestmark  # type: ignore[attr-defined]
    assert [case[0] for case in marks[0].args[1]] == XMLS


def test_both_sources_say_the_same_of_one_machine() -> None:
    """Recorded on the same machine; /sys tells speeds and distances that hwloc does not export."""
    ours, theirs = topology.read(MACHINES / "vm-epyc-2-cores.txt"), machine("vm-epyc-2-cores")
    different = [
        field.name
        for field in fields(Topology)
        if getattr(ours, field.name) != getattr(theirs, field.name)
    ]
    assert different == ["pus", "distances"]
    assert [pu.capacity for pu in ours.pus] == [1024, 1024]
    assert [(pu.number, pu.core, pu.package, pu.numa) for pu in ours.pus] == [
        (pu.number, pu.core, pu.package, pu.numa) for pu in theirs.pus
    ]


def test_cards_are_beside_their_numa_node() -> None:
    it = machine("epyc-rome-2s-nps4")
    assert [(d.name, d.also, d.kind, d.fabric, d.numa) for d in it.devices] == [
        ("mlx5_0", ("ib0",), "network", True, 6),
        ("eth0", (), "network", False, 0),
    ]
    assert it.devices[0].pus == frozenset(range(96, 112))
    power = machine("power9-2s-smt4")
    assert {d.name: d.numa for d in power.devices if d.kind == "gpu"} == {
        "cuda0": 0, "cuda1": 0, "cuda2": 8, "cuda3": 8,
    }  # fmt: skip


def test_a_file_of_hwloc_3() -> None:
    """It says of the whole topology what hwloc 2 says of the machine, and devices have several
    types."""
    it = machine("xeon-max-hwloc3")
    assert (it.hostname, it.architecture) == ("max01", "x86_64")
    assert it.cpu_model == "Intel(R) Xeon(R) CPU Max 9462"
    assert it.distances == ((10, 21), (21, 10))
    assert {(d.name, d.also, d.kind, d.fabric, d.numa) for d in it.devices} == {
        ("mlx5_0", ("ib0",), "network", True, 0),
        ("cuda0", ("nvml0",), "gpu", False, 0),
        ("cxi0", ("hsn0",), "network", True, 1),
    }
    assert {cache.bytes for cache in it.caches if cache.level == 3} == {78643200}


_AS_HWLOC_3 = {"0": 1, "1": 4, "2": 16, "3": 32, "4": 64, "5": 8}
"""Types of devices by their numbers in hwloc 2."""


@pytest.mark.parametrize("name", [name for name in XMLS if not name.endswith("hwloc3")])
def test_each_machine_is_the_same_in_both_formats(name: str, tmp_path: Path) -> None:
    text = (MACHINES / f"{name}.xml").read_text()
    of_machine = re.findall(r'(<info name="(?:HostName|Architecture)".*?/>)', text)
    for info in of_machine:
        text = text.replace(info, "")
    text = text.replace("</topology>", f"{''.join(of_machine)}</topology>")
    text = text.replace('<topology version="2.0"', '<topology version="3.0"')
    assert 'version="3.0"' in text
    text = re.sub(r'osdev_type="(\d)"', lambda of: f'osdev_type="{_AS_HWLOC_3[of[1]]}"', text)
    path = tmp_path / f"{name}.xml"
    path.write_text(text)
    assert read_xml(path) == machine(name)


def test_distances_are_in_the_order_of_numa_nodes(tmp_path: Path) -> None:
    assert machine("power9-2s-smt4").distances == ((10, 40), (40, 10))
    swapped = changed(
        tmp_path, "power9-2s-smt4", (">0 8 </indexes>", ">8 0 </indexes>"), (">10 40 ", ">11 40 ")
    )
    assert read_xml(swapped).distances == ((10, 40), (40, 11))


def test_memory_without_cores(tmp_path: Path) -> None:
    """As a GPU's memory appears on POWER9."""
    lonely = '<object type="NUMANode" os_index="255" nodeset="0x8" local_memory="17179869184"/>'
    path = changed(tmp_path, "arm-raspberry-pi-4", ("</topology>", "</topology>"))
    text = path.read_text()
    start = text.index("<object", text.index('type="Package"'))
    path.write_text(text[:start] + lonely + text[start:])
    it = read_xml(path)
    assert [(node.number, len(node.pus)) for node in it.numa] == [(0, 4), (255, 0)]
    assert {pu.numa for pu in it.pus} == {0}


def test_what_a_cpuset_leaves_out_is_known() -> None:
    it = machine("epyc-7402p-cpuset")
    assert it.allowed == {*range(1, 8), *range(25, 32)}
    assert len(it.left_out) == 48 - 14


def test_what_may_not_be_used_may_also_be_in_the_file(tmp_path: Path) -> None:
    """`lstopo --disallowed` keeps it in the tree."""
    path = changed(
        tmp_path, "arm-raspberry-pi-4", ('allowed_cpuset="0x0000000f"', 'allowed_cpuset="0x6"')
    )
    it = read_xml(path)
    assert len(it.pus) == 4
    assert it.allowed == {1, 2}
    assert not it.left_out


def test_a_cpuset_that_leaves_out_numa_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    """Of eight nodes five are in the file, two of them without cores; other cores have none."""
    it = machine("opteron-8s-cpuset")
    assert {pu.number: pu.numa for pu in it.pus} == {
        0: None,
        1: None,
        2: 1,
        3: 1,
        5: 2,
        6: 3,
        **dict.fromkeys(range(12, 16)),
    }
    assert it.distances[0] == (10, 40, 40, 80, 80)  # of a matrix of eight
    file = str(MACHINES / "opteron-8s-cpuset.xml")
    assert run(["topo", "--from", file, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [node["number"] for node in told["numa"]] == [1, 2, 3, 4, 5]
    assert [pu["number"] for pu in told["pus"] if pu["numa"] is None] == [0, 1, 12, 13, 14, 15]


def test_kinds_of_cores() -> None:
    it = machine("desktop-i9-12900k")
    assert [pu.kind for pu in it.pus] == ["performance"] * 16 + ["efficient"] * 8


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("arm-raspberry-pi-4", {"l2": 6}),
        ("desktop-i9-12900k", {"core": 8, "l2": 12, "l3": 108}),
        ("epyc-7402p-cpuset", {"core": 7, "l3": 5, "numa": 16}),
        ("epyc-rome-2s-nps4", {"l3": 192, "numa": 768, "socket": 3072, "sockets": 4096}),
        ("opteron-8s-cpuset", {"numa": 1, "socket": 3, "sockets": 41}),
        ("power9-2s-smt4", {"core": 240, "l2": 20, "numa": 360, "sockets": 400}),
        ("skylake-2s-snc-off", {"core": 40, "l3": 380, "sockets": 400}),
        ("vm-epyc-2-cores", {"l3": 1}),
    ],
)
def test_closest_shared_levels(name: str, shared: dict[str, int]) -> None:
    assert Levels.of(machine(name)).shared() == shared


def test_a_level_larger_than_the_next_one_is_still_right() -> None:
    """With sub-NUMA clusters an L3 is larger than a NUMA node: the smaller one is the closer."""
    from dataclasses import replace

    rome = machine("epyc-rome-2s-nps4")
    whole = frozenset(range(64))
    one_l3 = [replace(c, pus=whole) for c in rome.caches if c.level == 3 and 0 in c.pus]
    levels = Levels.of(replace(rome, caches=tuple(one_l3)))
    assert levels.closest(0, 15) == "numa"
    assert levels.closest(0, 16) == "l3"
    assert levels.closest(0, 64) == "sockets"


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_cores_in_the_order_of_the_tree(path: Path) -> None:
    """Each usable core once; those that share a group of a level stand beside each other."""
    it = topology.built(path)
    levels = Levels.of(it)
    order = [pu.number for pu in levels.cores()]
    assert len(order) == len(set(order)) == it.cores
    for groups in levels.groups.values():
        for group in groups:
            places = [place for place, pu in enumerate(order) if pu in group]
            assert places == list(range(min(places, default=0), max(places, default=-1) + 1))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0x00000003", {0, 1}),
        ("0x1,0x80000000", {31, 32}),
        ("0x0000ffff,,0x0", set(range(64, 80))),
        ("0x0", set()),
    ],
)
def test_bitmaps(text: str, numbers: set[int]) -> None:
    assert parse_bitmap(text) == numbers


def test_lists() -> None:
    assert as_list({8, 0, 1, 2}) == "0-2,8"
    assert as_list([]) == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("not XML", "is not XML"),
        ("<html/>", "holds <html>, not a <topology> of hwloc"),
        ("<topology/>", "is in the format of hwloc 1, only those of hwloc 2 and 3 can be read"),
        ('<topology version="4.0"/>', "is in the format of hwloc 4.0"),
        ('<topology version="2.0"><object type="Machine"/></topology>', "there is no PU"),
        (
            '<topology version="2.0"><object type="Machine" cpuset="0xf...f"/></topology>',
            "this topology is damaged",
        ),
        ('<topology version="2.0"/>', "there is no Machine"),
    ],
)
def test_what_is_no_topology_is_refused(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_text(text)
    with pytest.raises(UserError) as refused:
        read_xml(path)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The GPUs of a host, their paths to network cards, and the GPU of each rank."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.model.errors import UserError
from mpigauge.model.topology import Device
from mpigauge.show.topology.gpus import gpu_lines
from mpigauge.site import topology
from mpigauge.site.gpu import assign, usable_gpus
from mpigauge.site.gpu.cheapest import cheapest
from mpigauge.site.topology.devices import nvidia_gpus
from mpigauge.site.topology.files import Recorded
from mpigauge.site.topology.near import nearest_devices, path_between
from mpigauge.site.topology.read import read_files
from mpigauge.site.topology.stored import stored

MACHINES = Path(__file__).resolve().parents[2] / "machines"
ALL = sorted(path for path in MACHINES.iterdir() if path.suffix in (".txt", ".xml"))
NODE = topology.read(MACHINES / "xeon-6426y-4-gpus.txt")
POWER = topology.built(MACHINES / "power9-2s-smt4.xml")
FIRST, SECOND, THIRD, FOURTH = (gpu.bus for gpu in nvidia_gpus(NODE.devices))


def seats(*pus: int) -> list[frozenset[int]]:
    return [frozenset({pu}) for pu in pus]


# --- what a machine reports -----------------------------------------------------------------
def test_the_facts_of_a_gpu() -> None:
    gpus = nvidia_gpus(NODE.devices)
    assert [gpu.bus for gpu in gpus] == [
        "0000:19:00.0", "0000:38:00.0", "0000:9a:00.0", "0000:b8:00.0",
    ]  # fmt: skip
    assert [gpu.name for gpu in gpus] == ["GPU 0", "GPU 1", "GPU 2", "GPU 3"]
    assert {gpu.model for gpu in gpus} == {"NVIDIA H100 80GB HBM3"}
    assert len({gpu.uuid for gpu in gpus}) == 4
    assert [gpu.numa for gpu in gpus] == [0, 0, 1, 1]
    assert [gpu.link for gpu in gpus] == [
        "32.0 GT/s x16", "32.0 GT/s x16", "2.5 GT/s x16", "32.0 GT/s x8",
    ]  # fmt: skip
    assert {gpu.link_max for gpu in gpus} == {"32.0 GT/s x16"}
    assert gpus[0].bridges == ("pci0000:16", "0000:16:01.0", "0000:17:00.0", "0000:18:00.0")
    assert "nvidia 580.95.05" in NODE.drivers


def test_a_display_chip_is_no_gpu_of_a_job() -> None:
    (display,) = (d for d in NODE.devices if d.kind == "gpu" and d.vendor != "10de")
    assert (display.bus, display.name, display.vendor) == ("0000:03:00.0", "0000:03:00.0", "1a03")


def test_gpus_that_the_driver_does_not_list_do_not_count() -> None:
    """A container sees all PCI devices, but only its own GPUs in the driver's folder."""
    record = (MACHINES / "xeon-6426y-4-gpus.txt").read_text(encoding="utf-8")
    hidden = ("gpus/0000:19:00.0", "gpus/0000:9a:00.0")
    kept = "\n".join(line for line in record.splitlines() if not any(h in line for h in hidden))
    gpus = nvidia_gpus(read_files(Recorded(kept)).devices)
    assert [(gpu.name, gpu.bus) for gpu in gpus] == [("GPU 0", SECOND), ("GPU 1", FOURTH)]
    none = "\n".join(line for line in record.splitlines() if "proc/driver" not in line)
    assert [gpu.bus for gpu in nvidia_gpus(read_files(Recorded(none)).devices)] == [
        FIRST, SECOND, THIRD, FOURTH,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("speed", "width", "link"),
    [
        ("32.0 GT/s PCIe", "16", "32.0 GT/s x16"),
        ("8 GT/s", "4", "8 GT/s x4"),
        ("Unknown", "255", ""),
        ("Unknown speed", "63", ""),
        ("2.5 GT/s PCIe", "0", ""),
        ("", "", ""),
    ],
)
def test_links(speed: str, width: str, link: str) -> None:
    device = "sys/bus/pci/devices/0000:01:00.0"
    text = f"{device}/class\t0x030200\n{device}/vendor\t0x10de\n"
    text += f"{device}/current_link_speed\t{speed}\n{device}/current_link_width\t{width}\n"
    (gpu,) = read_files(Recorded(text)).devices
    assert gpu.link == link
    assert gpu.link_max == ""


def test_hwloc_reports_vendor_and_bridges() -> None:
    gpus = nvidia_gpus(POWER.devices)
    assert [gpu.name for gpu in gpus] == ["cuda0", "cuda1", "cuda2", "cuda3"]
    assert gpus[0].bridges == ("pci0004:04",)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_devices_survive_a_passport(path: Path) -> None:
    machine = topology.built(path)
    data = json.loads(json.dumps(topology.as_json(machine)))
    assert stored(data).devices == machine.devices
    for device in data["devices"]:
        for name in ("bridges", "vendor", "model", "uuid", "link", "link_max"):
            del device[name]  # as earlier versions stored it
    old = stored(data).devices
    assert [(d.name, d.bus) for d in old] == [(d.name, d.bus) for d in machine.devices]


# --- paths ----------------------------------------------------------------------------------
def device(name: str, *bridges: str, numa: int | None = None) -> Device:
    return Device(name, (), "gpu", False, name, frozenset(), numa, bridges)


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        (("pci0:1", "a", "b", "c"), ("pci0:1", "a", "b", "d"), "PIX"),
        (("pci0:1", "a", "b"), ("pci0:1", "a", "b"), "PIX"),
        (("pci0:1", "a", "b", "c", "e"), ("pci0:1", "a", "b", "d"), "PXB"),
        (("pci0:1", "a"), ("pci0:1", "b"), "PHB"),
        (("pci0:1",), ("pci0:1",), "PHB"),
        (("pci0:1", "a"), ("pci0:2", "b"), "NODE"),
        ((), ("pci0:2", "b"), "NODE"),
    ],
)
def test_paths_have_the_words_of_nvidia_smi(
    first: tuple[str, ...], second: tuple[str, ...], path: str
) -> None:
    one, other = device("one", *first, numa=0), device("other", *second, numa=0)
    assert path_between(one, other) == path_between(other, one) == path
    if path == "NODE":
        assert path_between(one, replace(other, numa=1)) == "SYS"
        assert path_between(one, replace(other, numa=None)) == "?"


def test_the_nearest_cards() -> None:
    cards = [d for d in NODE.devices if d.fabric]
    nearest = [nearest_devices(gpu, cards) for gpu in nvidia_gpus(NODE.devices)]
    assert [[card.name for card in each] for each in nearest] == [
        ["mlx5_0"], ["mlx5_0"], ["mlx5_1"], ["mlx5_1"],
    ]  # fmt: skip
    lost = replace(cards[0], bridges=(), numa=None)
    assert nearest_devices(lost, [lost]) == ()


TABLE = """\
GPUs, and their paths to network cards (PIX: through one PCIe switch, NODE: within a NUMA node, \
SYS: between NUMA nodes):
  GPU  PCI address   mlx5_0  mlx5_1  nearest card  PCIe link              model
  0    0000:19:00.0  PIX     SYS     mlx5_0        32.0 GT/s x16          NVIDIA H100 80GB HBM3
  1    0000:38:00.0  NODE    SYS     mlx5_0        32.0 GT/s x16          NVIDIA H100 80GB HBM3
  2    0000:9a:00.0  SYS     PIX     mlx5_1        32.0 GT/s x16          NVIDIA H100 80GB HBM3
  3    0000:b8:00.0  SYS     NODE    mlx5_1        32.0 GT/s x16, now x8  NVIDIA H100 80GB HBM3"""


def test_the_table() -> None:
    assert "\n".join(gpu_lines(NODE)) == TABLE


def test_without_network_cards_the_table_has_the_gpus_alone() -> None:
    alone = replace(NODE, devices=nvidia_gpus(NODE.devices))
    assert gpu_lines(alone)[:2] == [
        "GPUs:",
        "  GPU  PCI address   PCIe link              model",
    ]
    assert gpu_lines(replace(NODE, devices=())) == []


# --- near -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("pus", "expected"),
    [
        ((0, 1), [FIRST, SECOND]),
        ((16, 0), [THIRD, FIRST]),
        ((31, 30, 1, 0), [THIRD, FOURTH, FIRST, SECOND]),
        ((0, 1, 2), [FIRST, SECOND, THIRD]),  # one has to cross
        ((16,), [THIRD]),
    ],
)
def test_near_is_by_distance_and_stable(pus: tuple[int, ...], expected: list[str]) -> None:
    assert list(assign("near", NODE, seats(*pus))) == expected


def test_ranks_without_a_core_have_the_gpus_in_order() -> None:
    unbound = [frozenset[int]()] * 4
    assert assign("near", NODE, unbound) == (FIRST, SECOND, THIRD, FOURTH)
    assert assign(" near ", NODE, unbound[:1]) == (FIRST,)


def test_a_rank_that_can_run_anywhere_leaves_the_near_gpu_to_others() -> None:
    two = replace(NODE, devices=tuple(d for d in NODE.devices if d.bus in (FIRST, THIRD)))
    anywhere = frozenset(range(32))
    assert assign("near", two, [anywhere, frozenset({0})]) == (THIRD, FIRST)


def test_the_cheapest_assignment_is_that_of_trying_all() -> None:
    drawn = random.Random(1)
    for _ in range(300):
        columns = drawn.randint(1, 6)
        rows = drawn.randint(1, columns)
        costs = [[drawn.choice([10, 12, 20, 32]) for _ in range(columns)] for _ in range(rows)]

        def order(chosen: tuple[int, ...], costs: list[list[int]] = costs) -> tuple[int, int]:
            total = sum(line[column] for line, column in zip(costs, chosen, strict=True))
            first = sum(column * (len(costs) - row) for row, column in enumerate(chosen))
            return total, first

        best = min(itertools.permutations(range(columns), rows), key=order)
        found = tuple(cheapest(costs))
        assert order(found) == order(best)
        assert len(set(found)) == rows


# --- named ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("0,1", [FIRST, SECOND]),
        ("3,0", [FOURTH, FIRST]),
        ("0,0", [FIRST, FIRST]),
        ("2, 1", [THIRD, SECOND]),
        ("0,1,2,3", [FIRST, SECOND]),
        ("0000:b8:00.0,0", [FOURTH, FIRST]),
        ("b8:00.0,19:00.0", [FOURTH, FIRST]),
        ("B8:00,00000000:9A:00.0", [FOURTH, THIRD]),  # as nvidia-smi prints them
    ],
)
def test_named_gpus(words: str, expected: list[str]) -> None:
    assert list(assign(words, NODE, seats(0, 1))) == expected


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("near", "node has 4 GPUs for 5 ranks"),
        ("0", "it names 1 GPU for 5 ranks on node"),
        ("0,1,0,1", "it names 4 GPUs for 5 ranks"),
        ("0,1,2,3,4", "there is no GPU 4; node has 0 (0000:19:00.0), 1 (0000:38:00.0), 2"),
        ("0,,1,2,3", "a word is empty; node has 0"),
        ("", "a word is empty; node has 0"),
        ("near,0,1,2,3", "near stands alone"),
        ("0,0,0,0,-1", "'-1' is neither near, nor an index, nor a PCI address"),
        ("0,0,0,0,first", "'first' is neither near"),
        ("0,0,0,0,1a:00.0", "there is no GPU at 1a:00.0"),
        ("0,0,0,0,0001:19:00.0", "there is no GPU at 0001:19:00.0"),
        ("0,0,0,0,19:00.1", "there is no GPU at 19:00.1"),
        ("0,0,0,0,²", "'²' is neither near"),
    ],
)
def test_refusals(words: str, sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        assign(words, NODE, seats(0, 1, 2, 3, 4), host="node")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert FIRST in str(refused.value) or "names" in str(refused.value)


def test_an_address_in_several_domains_is_refused() -> None:
    twice = tuple(replace(gpu, bus=bus) for gpu, bus in zip(
        nvidia_gpus(NODE.devices), ("0008:01:00.0", "0009:01:00.0"), strict=False
    ))  # fmt: skip
    machine = replace(NODE, devices=twice)
    assert assign("0009:01:00.0", machine, seats(0)) == ("0009:01:00.0",)
    with pytest.raises(UserError, match=r"01:00\.0 is in several PCI domains"):
        assign("01:00.0", machine, seats(0))


@pytest.mark.parametrize("name", ["epyc-rome-2s-nps4.xml", "epyc-7302-two-sockets.txt"])
@pytest.mark.parametrize("words", ["near", "0"])
def test_a_host_without_a_gpu(name: str, words: str) -> None:
    with pytest.raises(UserError, match=r"^node has no NVIDIA GPU$"):
        assign(words, topology.built(MACHINES / name), seats(0), host="node")


# --- CUDA_VISIBLE_DEVICES -------------------------------------------------------------------
UUIDS = [gpu.uuid for gpu in nvidia_gpus(NODE.devices)]


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (None, [FIRST, SECOND, THIRD, FOURTH]),
        ("3,1", [FOURTH, SECOND]),
        (" 2 , 0 ", [THIRD, FIRST]),
        (f"{UUIDS[2]},{UUIDS[0]}", [THIRD, FIRST]),
        ("GPU-c25e,GPU-f0b9", [THIRD, FOURTH]),
        ("0,7,1", [FIRST]),  # as in CUDA, an unknown word ends the list
        ("1,-1,0", [SECOND]),
        (f"MIG-{UUIDS[1]}/7/0,0", [SECOND]),  # as in CUDA, only the first instance counts
    ],
)
def test_visible_devices(visible: str | None, expected: list[str]) -> None:
    assert [gpu.bus for gpu in usable_gpus(NODE, "node", visible)] == expected
    assert assign("0", NODE, seats(0), visible=visible) == (expected[0],)


@pytest.mark.parametrize(
    ("visible", "sentence"),
    [
        ("", "is set and empty, which hides all GPUs of node"),
        (" ", "is set and empty"),
        ("-1", "leaves no GPU of node; it has 0 (0000:19:00.0)"),
        ("9", "leaves no GPU"),
        ("0,0", "leaves no GPU"),
        ("GPU-6d1f5f0a", "leaves no GPU"),  # two begin like this
        ("MIG-3f2a-11", "leaves no GPU"),  # of which GPU is not known
        ("all", "leaves no GPU"),
    ],
)
def test_hidden_devices(visible: str, sentence: str) -> None:
    for words in ("near", "0"):
        with pytest.raises(UserError) as refused:
            assign(words, NODE, seats(0), host="node", visible=visible)
        assert sentence in str(refused.value)
        assert str(refused.value).startswith("CUDA_VISIBLE_DEVICES")
        assert "\n" not in str(refused.value)


def test_an_instance_of_the_only_gpu() -> None:
    one = replace(NODE, devices=nvidia_gpus(NODE.devices)[:1])
    uuid = "MIG-1c1d6a2e-5a3f-5e0d-8b7c-2f3c6f1b9a10"
    assert assign("near", one, seats(0), visible=uuid) == (FIRST,)
    with pytest.raises(UserError, match="1 GPU for 2 ranks"):
        assign("near", one, seats(0, 1), visible=uuid)


def test_what_the_driver_offers_counts_and_needs_no_files() -> None:
    assert assign("near", NODE, seats(0, 16), visible="", offered=[FOURTH, FIRST]) == (
        FIRST, FOURTH,
    )  # fmt: skip
    assert assign("0", NODE, seats(0), offered=[FOURTH, FIRST]) == (FOURTH,)
    nothing = replace(NODE, devices=())
    assert assign("near", nothing, seats(0), offered=["0000:0f:00.0"]) == ("0000:0f:00.0",)
    with pytest.raises(UserError, match="the driver of node offers no GPU"):
        assign("near", NODE, seats(0), host="node", offered=[])

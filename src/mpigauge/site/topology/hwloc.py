# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads a machine from an XML file that hwloc 2 or 3 has written (`lstopo --of xml`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mpigauge.model.cpu_lists import parse_bitmap
from mpigauge.model.errors import UserError
from mpigauge.model.inputs import read_input
from mpigauge.model.topology import Cache, Device, Numa, Pu, Topology
from mpigauge.site.topology.devices import FABRIC_CLASSES, in_order, kind_of, numa_beside

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

HOW = "write it with `lstopo --of xml FILE`"
CACHE_KINDS = {"0": "unified", "1": "data", "2": "instruction"}
VERSIONS = ("2", "3")
OPENFABRICS, NETWORK = "OpenFabrics", "Network"
_DEVICE_TYPES = {OPENFABRICS: ("3", 32), NETWORK: ("2", 16)}
"""Types of the operating system's devices: the number in hwloc 2, the bit in hwloc 3, where a
device may be of several types."""
_LATENCY_FROM_OS = "NUMALatency"


@dataclass(frozen=True)
class HwlocObject:
    """An object of the tree, and the PUs of its nearest ancestor that has some."""

    element: Element
    near: frozenset[int]
    bridges: tuple[str, ...] = ()
    """The bridges above it, from the root."""

    def get(self, name: str) -> str:
        return self.element.get(name, "")

    @property
    def index(self) -> int:
        return int(self.get("os_index") or -1)

    @property
    def pus(self) -> frozenset[int]:
        return parse_bitmap(self.get("cpuset") or "0x0")

    @property
    def info(self) -> Mapping[str, str]:
        return _info(self.element)


def _info(element: Element) -> dict[str, str]:
    return {e.get("name", ""): e.get("value", "") for e in element.findall("info")}


def read_xml(path: Path) -> Topology:
    """Reads the machine in this file. UserError: it is not a valid topology of hwloc."""
    root = _root(path)
    try:
        return _topology(root, path)
    except (ValueError, KeyError, IndexError) as error:
        raise UserError(f"{path}: this topology is damaged: {error}; {HOW}") from None
    except RecursionError:
        raise UserError(f"{path}: this topology is nested too deeply; {HOW}") from None


def _root(path: Path) -> Element:
    from xml.etree import ElementTree as ET

    try:
        root = ET.fromstring(read_input(path))
    except (ET.ParseError, LookupError, ValueError) as error:  # LookupError: of its encoding
        raise UserError(f"{path} is not XML ({error}); {HOW}") from None
    if root.tag != "topology":
        raise UserError(f"{path} holds <{root.tag}>, not a <topology> of hwloc; {HOW}")
    version = root.get("version") or "1"
    if _major(root) not in VERSIONS:
        raise UserError(
            f"{path} is in the format of hwloc {version}, only those of hwloc 2 and 3 can be read; "
            "write it with hwloc 2 or 3"
        )
    return root


def _major(root: Element) -> str:
    """Returns the major version of the format."""
    return (root.get("version") or "").partition(".")[0]


def _topology(root: Element, path: Path) -> Topology:
    items = list(_items(root, frozenset()))
    machine = next(iter(_of(items, "Machine")), None)
    if machine is None:
        raise UserError(f"{path}: there is no Machine in this topology; {HOW}")
    numa = tuple(sorted(_numa(items), key=lambda node: node.number))
    pus = _pus(items, numa, _kinds(root))
    if not pus:
        raise UserError(f"{path}: there is no PU in this topology; {HOW}")
    numbers = frozenset(pu.number for pu in pus)
    nodes = frozenset(node.number for node in numa)
    about = {**_info(root), **machine.info}  # hwloc 3 has it beside the machine
    models = dict.fromkeys(i.info.get("CPUModel", "") for i in _of(items, "Package"))
    return Topology(
        hostname=about.get("HostName", path.stem),
        architecture=about.get("Architecture", ""),
        cpu_model=" + ".join(filter(None, models)) or "unknown CPU",
        pus=pus,
        caches=_caches(items),
        numa=numa,
        distances=_distances(root, numa),
        devices=in_order(_devices(items, numa, _major(root))),
        allowed=_allowed(machine, "allowed_cpuset", numbers),
        allowed_numa=_allowed(machine, "allowed_nodeset", nodes),
        left_out=_allowed(machine, "complete_cpuset", numbers, within=False),
    )


def _items(
    element: Element, near: frozenset[int], bridges: tuple[str, ...] = ()
) -> Iterator[HwlocObject]:
    for child in element.findall("object"):
        item = HwlocObject(child, near, bridges)
        yield item
        yield from _items(child, item.pus or near, bridges + _bridge(item))


def _bridge(item: HwlocObject) -> tuple[str, ...]:
    """Returns the name of a bridge as in /sys: pci0000:16 for a host bridge, else its address."""
    if item.get("type") != "Bridge":
        return ()
    domain_and_bus = item.get("bridge_pci").replace("[", "").partition("-")[0]
    return (item.get("pci_busid") or f"pci{domain_and_bus}",)


def _of(items: list[HwlocObject], kind: str) -> list[HwlocObject]:
    return [item for item in items if item.get("type") == kind]


def _allowed(
    machine: HwlocObject, name: str, existing: frozenset[int], within: bool = True
) -> frozenset[int]:
    """Returns the numbers in this set that exist in the topology, or those that do not."""
    text = machine.get(name)
    numbers = parse_bitmap(text) if text else existing
    if within:
        return numbers & existing
    return numbers - existing


def _numa(items: list[HwlocObject]) -> Iterator[Numa]:
    for item in _of(items, "NUMANode"):
        yield Numa(item.index, int(item.get("local_memory") or 0) or None, item.pus)


def _pus(
    items: list[HwlocObject], numa: tuple[Numa, ...], kinds: Mapping[int, str]
) -> tuple[Pu, ...]:
    """Returns the PUs by number; cores are numbered by their first PUs, as in a live topology."""
    numbers = sorted(item.index for item in _of(items, "PU"))
    cores = sorted((min(item.pus), item.pus) for item in _of(items, "Core"))
    core_of = {}
    for place, (_, pus) in enumerate(cores):
        for pu in pus:
            core_of[pu] = place
    package_of = {
        pu: item.index if item.index >= 0 else place
        for place, item in enumerate(_of(items, "Package"))
        for pu in item.pus
    }
    return tuple(
        Pu(
            number=number,
            core=core_of.get(number, number),
            package=package_of.get(number, 0),
            numa=_numa_of(number, numa),
            capacity=None,
            kind=kinds.get(number, ""),
        )
        for number in numbers
    )


def _numa_of(pu: int, numa: tuple[Numa, ...]) -> int | None:
    """Returns the smallest NUMA node that holds a PU; None: no node holds it."""
    around = [(len(node.pus), node.number) for node in numa if pu in node.pus]
    if around:
        return min(around)[1]
    return None


def _kinds(root: Element) -> dict[int, str]:
    """Returns the kind of core of each PU; empty unless there are several kinds."""
    elements = root.findall("cpukind")
    if len(elements) < 2:
        return {}
    names = {"IntelCore": "performance", "IntelAtom": "efficient"}
    kinds: dict[int, str] = {}
    for place, element in enumerate(elements):
        info = {e.get("name"): e.get("value", "") for e in element.findall("info")}
        name = info.get("CoreType") or info.get("LinuxCapacity") or f"kind {place}"
        text = f"capacity {name}" if name.isdigit() else names.get(name, name)
        kinds |= dict.fromkeys(parse_bitmap(element.get("cpuset", "0x0")), text)
    return kinds


def _caches(items: list[HwlocObject]) -> tuple[Cache, ...]:
    caches = []
    for item in items:
        if "Cache" in item.get("type") and item.pus and item.get("cache_size") not in ("", "0"):
            caches.append(
                Cache(
                    level=int(item.get("depth")),
                    kind=CACHE_KINDS[item.get("cache_type")],
                    bytes=int(item.get("cache_size")),
                    pus=item.pus,
                )
            )
    return tuple(sorted(caches, key=lambda cache: (cache.level, cache.kind, min(cache.pus))))


def _distances(root: Element, numa: tuple[Numa, ...]) -> tuple[tuple[int, ...], ...]:
    """Returns the matrix of NUMA latencies, its rows in the order of `numa`; empty: none."""
    for element in root.findall("distances2"):
        if element.get("type") != "NUMANode":
            continue
        if element.get("name", _LATENCY_FROM_OS) != _LATENCY_FROM_OS:
            continue
        order = [int(w) for e in element.findall("indexes") for w in (e.text or "").split()]
        values = [int(w) for e in element.findall("u64values") for w in (e.text or "").split()]
        place = {number: at for at, number in enumerate(order)}
        if set(place) >= {node.number for node in numa} and len(values) == len(order) ** 2:
            at = [place[node.number] for node in numa]
            return tuple(tuple(values[i * len(order) + j] for j in at) for i in at)
    return ()


def _devices(items: list[HwlocObject], numa: tuple[Numa, ...], version: str) -> Iterator[Device]:
    for item in _of(items, "PCIDev"):
        words = (item.get("pci_type") or "0").split()
        pci_class = int(words[0], 16)
        kind: Literal["network", "gpu"] | None = kind_of(pci_class)
        if kind is None:
            continue
        inside = [HwlocObject(e, item.near) for e in item.element.iter("object")]
        devices = _of(inside, "OSDev")
        names = _names(devices, kind, version)
        bus = item.get("pci_busid")
        fabric = any(_is_a(device, OPENFABRICS, version) for device in devices)
        yield Device(
            name=[*names, bus][0],
            also=tuple(names[1:]),
            kind=kind,
            fabric=kind == "network" and (fabric or pci_class in FABRIC_CLASSES),
            bus=bus,
            pus=item.near,
            numa=numa_beside(item.near, numa),
            bridges=item.bridges,
            vendor=words[1].lstrip("[").partition(":")[0] if kind == "gpu" and words[1:] else "",
            model=_model(item, devices) if kind == "gpu" else "",
        )


def _model(item: HwlocObject, devices: list[HwlocObject]) -> str:
    """Returns the product name of a GPU that a plugin of hwloc for its driver has listed."""
    names = [device.info.get("GPUModel", "") for device in devices]
    return next(filter(None, names), item.info.get("GPUModel", ""))


def _names(devices: list[HwlocObject], kind: str, version: str) -> list[str]:
    """Returns the names of a network card, the fabric's first, or all names of a GPU."""
    if kind != "network":
        return [device.get("name") for device in devices]
    ranked = []
    for device_type in (OPENFABRICS, NETWORK):
        for device in devices:
            if _is_a(device, device_type, version):
                ranked.append(device.get("name"))
    return list(dict.fromkeys(ranked))


def _is_a(device: HwlocObject, device_type: str, version: str) -> bool:
    number, bit = _DEVICE_TYPES[device_type]
    kind = device.get("osdev_type")
    if version == "2":
        return kind == number
    return bool(int(kind or 0) & bit)

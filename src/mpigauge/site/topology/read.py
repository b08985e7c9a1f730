# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads a machine from /sys and /proc."""

from __future__ import annotations

import platform
import re
from pathlib import Path

from mpigauge.model.cpu_lists import parse_list, parse_size
from mpigauge.model.errors import UserError
from mpigauge.model.inputs import read_text
from mpigauge.model.machine import Machine
from mpigauge.model.topology import Cache, Numa, Pu
from mpigauge.site.topology import cgroup
from mpigauge.site.topology.devices import devices, drivers
from mpigauge.site.topology.files import Files, Recorded
from mpigauge.site.topology.numa import distances, numa_nodes

CPU = "sys/devices/system/cpu"
KINDS = {"sys/devices/cpu_core/cpus": "performance", "sys/devices/cpu_atom/cpus": "efficient"}
"""The files in which hybrid Intel processors list the PUs of each kind of core."""

# Arm chips do not tell their name, only a part number.
ARM_PARTS = {
    "0xd03": "Cortex-A53",
    "0xd05": "Cortex-A55",
    "0xd08": "Cortex-A72",
    "0xd0b": "Cortex-A76",
    "0xd0c": "Neoverse N1",
    "0xd40": "Neoverse V1",
    "0xd49": "Neoverse N2",
    "0xd4f": "Neoverse V2",
}


def read(root: Path = Path("/")) -> Machine:
    """Reads the machine whose /sys and /proc are below `root`, or that is recorded in this file."""
    if root.is_dir():
        return read_files(Files(root))
    return read_record(root)[1]


def read_record(path: Path) -> tuple[Recorded, Machine]:
    """Reads a record: its files, and the machine that they describe.

    UserError: it is not such a record, or is damaged.
    """
    text = read_text(path)
    if "\t" not in text:
        raise UserError(
            f"{path} is not a record of a machine; make one with `python tools/record_machine.py`"
        )
    recorded = Recorded(text)
    try:
        return recorded, read_files(recorded)
    except (ValueError, KeyError, IndexError) as error:
        raise UserError(f"{path}: this record of a machine is damaged: {error}") from None


def read_files(files: Files) -> Machine:
    online = parse_list(_word(files, f"{CPU}/online")) or _numbered(files.names(CPU), "cpu")
    status = files.text("proc/self/status") or ""
    allowed = parse_list(_field(status, "Cpus_allowed_list")) or online
    memory = files.text("proc/meminfo") or ""
    total_bytes = _kibibytes(memory, "MemTotal")
    numa = numa_nodes(files, total_bytes)
    return Machine(
        hostname=_word(files, "proc/sys/kernel/hostname"),
        architecture=_word(files, "proc/sys/kernel/arch") or platform.machine(),
        kernel=_word(files, "proc/sys/kernel/osrelease"),
        kernel_version=_word(files, "proc/sys/kernel/version"),
        cpu_model=_cpu_model(files),
        microcode=_field(files.text("proc/cpuinfo") or "", "microcode"),
        drivers=drivers(files),
        hypervisor=" hypervisor" in (files.text("proc/cpuinfo") or ""),
        pus=_pus(files, sorted(online), numa),
        caches=_caches(files, sorted(online)),
        numa=numa,
        distances=distances(files, numa),
        devices=devices(files, numa),
        allowed=frozenset(allowed & online),
        allowed_numa=_allowed_numa(status, numa),
        left_out=frozenset(parse_list(_word(files, f"{CPU}/present")) - online),
        isolated=frozenset(parse_list(_word(files, f"{CPU}/isolated"))),
        cpu_quota=cgroup.cpu_quota(files),
        memory_limit_bytes=cgroup.memory_limit(files),
        memory_total_bytes=total_bytes,
        memory_available_bytes=_kibibytes(memory, "MemAvailable"),
        governors=_governors(files, sorted(allowed & online)),
        turbo=_turbo(files),
        transparent_hugepages=files.choice("sys/kernel/mm/transparent_hugepage/enabled"),
        numa_balancing=_switch(files, "proc/sys/kernel/numa_balancing"),
        clocksource=_word(files, _CLOCKSOURCE) or None,
        load=_load(files),
        steal_ratio=_steal_ratio(files),
    )


_CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0/current_clocksource"


def _word(files: Files, path: str) -> str:
    return (files.text(path) or "").strip()


def _field(text: str, name: str) -> str:
    match = re.search(rf"^{name}\s*:\s*(.*)$", text, re.MULTILINE)
    if match:
        return match[1].strip()
    return ""


def _kibibytes(text: str, name: str) -> int:
    words = _field(text, name).split()
    if words:
        return int(words[0]) * 1024
    return 0


def _number(text: str, otherwise: int) -> int:
    if text.lstrip("-").isdigit():
        return int(text)
    return otherwise


def _numbered(names: list[str], stem: str) -> set[int]:
    return {int(match[1]) for name in names if (match := re.fullmatch(rf"{stem}(\d+)", name))}


def _allowed_numa(status: str, numa: tuple[Numa, ...]) -> frozenset[int]:
    """Returns the NUMA nodes that the cpuset allows; all if it lists none of them."""
    existing = {node.number for node in numa}
    return frozenset(parse_list(_field(status, "Mems_allowed_list")) & existing or existing)


def _pus(files: Files, online: list[int], numa: tuple[Numa, ...]) -> tuple[Pu, ...]:
    first = {number: _first_of_core(files, number) for number in online}
    cores = {pu: core for core, pu in enumerate(sorted(set(first.values())))}
    node_of = {}
    for node in numa:
        for pu in node.pus:
            node_of[pu] = node.number
    kinds = {pu: kind for path, kind in KINDS.items() for pu in parse_list(_word(files, path))}
    return tuple(
        Pu(
            number=number,
            core=cores[first[number]],
            package=max(0, _number(_word(files, _topology(number, "physical_package_id")), 0)),
            numa=node_of.get(number),
            capacity=_number(_word(files, f"{CPU}/cpu{number}/cpu_capacity"), 0) or None,
            kind=kinds.get(number, ""),
        )
        for number in online
    )


def _topology(number: int, name: str) -> str:
    return f"{CPU}/cpu{number}/topology/{name}"


def _first_of_core(files: Files, number: int) -> int:
    """Returns the lowest PU of the same core; older kernels have only the older name of the
    file."""
    for name in ("core_cpus_list", "thread_siblings_list"):
        if siblings := parse_list(_word(files, _topology(number, name))):
            return min(siblings)
    return number


def _caches(files: Files, online: list[int]) -> tuple[Cache, ...]:
    caches = {cache for number in online for cache in _caches_of(files, number)}
    return tuple(sorted(caches, key=lambda cache: (cache.level, cache.kind, min(cache.pus))))


def _caches_of(files: Files, number: int) -> list[Cache]:
    folder = f"{CPU}/cpu{number}/cache"
    indexes = _numbered(files.names(folder), "index")
    read_all = [_cache(files, f"{folder}/index{index}", number) for index in sorted(indexes)]
    return [cache for cache in read_all if cache is not None]


def _cache(files: Files, folder: str, number: int) -> Cache | None:
    size = parse_size(_word(files, f"{folder}/size"))
    if size == 0:
        return None
    return Cache(
        level=_number(_word(files, f"{folder}/level"), 0),
        kind=_word(files, f"{folder}/type").lower(),
        bytes=size,
        pus=frozenset(parse_list(_word(files, f"{folder}/shared_cpu_list")) or {number}),
    )


def _cpu_model(files: Files) -> str:
    info = files.text("proc/cpuinfo") or ""
    if name := _field(info, "model name"):
        return name
    parts = dict.fromkeys(re.findall(r"^CPU part\s*:\s*(\S+)", info, re.MULTILINE))
    names = " + ".join(ARM_PARTS.get(part, f"part {part}") for part in parts)
    board = _word(files, "sys/firmware/devicetree/base/model")
    return ", ".join(filter(None, (board, names))) or "unknown"


def _governors(files: Files, allowed: list[int]) -> tuple[str, ...]:
    words = {_word(files, f"{CPU}/cpu{number}/cpufreq/scaling_governor") for number in allowed}
    return tuple(sorted(words - {""}))


def _turbo(files: Files) -> bool | None:
    if (off := _switch(files, f"{CPU}/intel_pstate/no_turbo")) is not None:
        return not off
    return _switch(files, f"{CPU}/cpufreq/boost")


def _switch(files: Files, path: str) -> bool | None:
    word = _word(files, path)
    if word.isdigit():
        return word != "0"
    return None


def _load(files: Files) -> tuple[float, float, float]:
    words = _word(files, "proc/loadavg").split()
    if len(words) < 3:
        return 0.0, 0.0, 0.0
    return float(words[0]), float(words[1]), float(words[2])


def _steal_ratio(files: Files) -> float:
    first = (files.text("proc/stat") or "").partition("\n")[0].split()
    times = [int(word) for word in first[1:9]]
    total = sum(times)
    if len(times) == 8 and total:
        return times[7] / total
    return 0.0

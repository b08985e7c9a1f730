# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads a machine out of /sys and /proc."""

from __future__ import annotations

import platform
import re
from pathlib import Path

from mpigauge.model.machine import Cache, Machine, Pu
from mpigauge.topology import cgroup
from mpigauge.topology.files import Files, Recorded

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"

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
    """The machine whose /sys and /proc are below `root`, or that is recorded in this file."""
    if root.is_file():
        return read_files(Recorded(root.read_text(encoding="utf-8")))
    return read_files(Files(root))


def read_files(files: Files) -> Machine:
    online = parse_list(_word(files, f"{CPU}/online")) or _numbered(files.names(CPU), "cpu")
    status = files.text("proc/self/status") or ""
    allowed = parse_list(_field(status, "Cpus_allowed_list")) or online
    memory = files.text("proc/meminfo") or ""
    return Machine(
        hostname=_word(files, "proc/sys/kernel/hostname"),
        architecture=_word(files, "proc/sys/kernel/arch") or platform.machine(),
        kernel=_word(files, "proc/sys/kernel/osrelease"),
        cpu_model=_cpu_model(files),
        hypervisor=" hypervisor" in (files.text("proc/cpuinfo") or ""),
        pus=_pus(files, sorted(online)),
        caches=_caches(files, sorted(online)),
        allowed=frozenset(allowed & online),
        isolated=frozenset(parse_list(_word(files, f"{CPU}/isolated"))),
        cpu_quota=cgroup.cpu_quota(files),
        memory_limit_bytes=cgroup.memory_limit(files),
        memory_total_bytes=_kibibytes(memory, "MemTotal"),
        memory_available_bytes=_kibibytes(memory, "MemAvailable"),
        governors=_governors(files, sorted(allowed & online)),
        turbo=_turbo(files),
        transparent_hugepages=_chosen(files, "sys/kernel/mm/transparent_hugepage/enabled"),
        numa_balancing=_switch(files, "proc/sys/kernel/numa_balancing"),
        clocksource=_word(files, _CLOCKSOURCE) or None,
        load=_load(files),
        steal_ratio=_steal_ratio(files),
    )


_CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0/current_clocksource"


def parse_list(text: str) -> set[int]:
    """The numbers in a kernel list such as 0-3,8."""
    numbers: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def _word(files: Files, path: str) -> str:
    return (files.text(path) or "").strip()


def _field(text: str, name: str) -> str:
    match = re.search(rf"^{name}\s*:\s*(.*)$", text, re.MULTILINE)
    return match[1].strip() if match else ""


def _kibibytes(text: str, name: str) -> int:
    words = _field(text, name).split()
    return int(words[0]) * 1024 if words else 0


def _number(text: str, otherwise: int) -> int:
    return int(text) if text.lstrip("-").isdigit() else otherwise


def _numbered(names: list[str], stem: str) -> set[int]:
    return {int(match[1]) for name in names if (match := re.fullmatch(rf"{stem}(\d+)", name))}


def _pus(files: Files, online: list[int]) -> tuple[Pu, ...]:
    first = {number: _first_of_core(files, number) for number in online}
    cores = {pu: core for core, pu in enumerate(sorted(set(first.values())))}
    numa = _numa_of_pus(files)
    return tuple(
        Pu(
            number=number,
            core=cores[first[number]],
            package=max(0, _number(_word(files, _topology(number, "physical_package_id")), 0)),
            numa=numa.get(number, 0),
            capacity=_number(_word(files, f"{CPU}/cpu{number}/cpu_capacity"), 0) or None,
        )
        for number in online
    )


def _topology(number: int, name: str) -> str:
    return f"{CPU}/cpu{number}/topology/{name}"


def _first_of_core(files: Files, number: int) -> int:
    """The lowest PU of the same core; the older kernels have the older name only."""
    for name in ("core_cpus_list", "thread_siblings_list"):
        if siblings := parse_list(_word(files, _topology(number, name))):
            return min(siblings)
    return number


def _numa_of_pus(files: Files) -> dict[int, int]:
    nodes = _numbered(files.names(NODE), "node")
    return {
        pu: node
        for node in sorted(nodes)
        for pu in parse_list(_word(files, f"{NODE}/node{node}/cpulist"))
    }


def _caches(files: Files, online: list[int]) -> tuple[Cache, ...]:
    found = {cache for number in online for cache in _caches_of(files, number)}
    return tuple(sorted(found, key=lambda cache: (cache.level, cache.kind, min(cache.pus))))


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


def parse_size(text: str) -> int:
    """The kernel's sizes: 32K, 16M or a plain number."""
    match = re.fullmatch(r"(\d+)([KMG]?)", text)
    return (
        int(match[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[match[2]] if match else 0
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
    return word != "0" if word.isdigit() else None


def _chosen(files: Files, path: str) -> str | None:
    match = re.search(r"\[(.+?)\]", files.text(path) or "")
    return match[1] if match else None


def _load(files: Files) -> tuple[float, float, float]:
    words = _word(files, "proc/loadavg").split()
    if len(words) < 3:
        return 0.0, 0.0, 0.0
    return float(words[0]), float(words[1]), float(words[2])


def _steal_ratio(files: Files) -> float:
    first = (files.text("proc/stat") or "").partition("\n")[0].split()
    times = [int(word) for word in first[1:9]]
    total = sum(times)
    return times[7] / total if len(times) == 8 and total else 0.0

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The usable CPUs: the shell's binding, the cpuset, hardware threads."""

from __future__ import annotations

from collections.abc import Iterator

from mpigauge.model.cpu_lists import as_list
from mpigauge.products.doctor.check_finding import CheckFinding, Host, bad, good, note, unknown
from mpigauge.products.doctor.registry import check
from mpigauge.site.topology import cgroup


@check("binding", "whether this shell is bound to some of the CPUs")
def binding(host: Host) -> Iterator[CheckFinding]:
    machine = host.machine
    online = frozenset(pu.number for pu in machine.pus)
    if not online:
        yield unknown("the machine does not list its CPUs")
        return
    offered = (cgroup.cpuset(host.files) or online) & online or online
    if machine.allowed >= offered:
        yield good(f"this shell may use all {len(offered)} CPUs that it is offered")
        return
    fact = (
        f"this shell is bound to {len(machine.allowed)} of {len(offered)} CPUs: "
        f"{as_list(machine.allowed)}"
    )
    mend = f"`taskset -p -c {as_list(offered)} $$`, or a new shell"
    if machine.cores < 2:
        yield bad(fact, "two ranks take turns on one core: a message waits for a time slice", mend)
    else:
        yield note(fact, "ranks are placed on these alone; other placements are refused", mend)


@check("cpuset", "what the control group leaves of CPUs and memory nodes")
def cpuset(host: Host) -> Iterator[CheckFinding]:
    machine = host.machine
    online = frozenset(pu.number for pu in machine.pus)
    left = cgroup.cpuset(host.files)
    foreign = {node.number for node in machine.numa} - machine.allowed_numa
    if left is None:
        yield unknown("no control group has a cpuset here")
    elif left >= online:
        yield good(f"all {len(online)} CPUs")
    else:
        yield note(
            f"the cpuset leaves {len(left & online)} of {len(online)} CPUs: {as_list(left)}",
            "what runs on the others shares caches and memory with the ranks, unseen",
            "ask for the whole node: `--exclusive` (Slurm), `-l place=excl` (PBS), "
            f"`--cpuset-cpus {as_list(online)}` (containers)",
        )
    if foreign:
        yield note(
            f"memory of NUMA node {as_list(foreign)} may not be used",
            "ranks beside it use far memory: about half the bandwidth on machines of two sockets",
            "widen cpuset.mems of the control group, or ask for the whole node",
        )


@check("smt", "whether a core has several hardware threads")
def smt(host: Host) -> Iterator[CheckFinding]:
    machine = host.machine
    control = (host.files.text("sys/devices/system/cpu/smt/control") or "").strip()
    if not machine.pus:
        yield unknown("the machine does not list its CPUs")
    elif machine.threads_per_core == 1:
        off = control in ("off", "forceoff")
        yield good(f"one hardware thread per core{' (switched off)' if off else ''}")
    else:
        yield note(
            f"{machine.threads_per_core} hardware threads per core",
            "mpigauge gives each rank a core of its own; a launcher that counts CPUs puts two "
            "ranks on one core, and any other program may sit beside a rank",
            "place ranks by core; to switch it off: "
            "`echo off | sudo tee /sys/devices/system/cpu/smt/control`",
        )


@check("speed", "whether all cores are equally fast")
def speed(host: Host) -> Iterator[CheckFinding]:
    usable = host.machine.usable
    kinds = {(pu.capacity, pu.kind) for pu in usable}
    if not usable:
        yield unknown("the machine does not list its CPUs")
    elif len(kinds) == 1:
        yield good("all cores are of one kind")
    else:
        fastest = max(usable, key=lambda pu: (pu.capacity or 0, pu.kind == "performance"))
        fast = []
        for p in usable:
            if (p.capacity, p.kind) == (fastest.capacity, fastest.kind):
                fast.append(p.number)
        yield note(
            f"the cores are of {len(kinds)} kinds; the fast ones are CPU {as_list(fast)}",
            "times depend on the kind of a rank's core",
            f"keep to one kind: `mpigauge run … --bind {as_list(fast[:2])}`",
        )

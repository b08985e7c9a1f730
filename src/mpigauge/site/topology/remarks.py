# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Suspicious properties of a machine, in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import many

if TYPE_CHECKING:
    from mpigauge.model.machine import Machine

GOOD_CLOCKS = ("tsc", "arch_sys_counter", "timebase", "riscv_clocksource")
HIGH_LOAD = 0.25
"""Load per PU above which other programs are assumed to be running."""
HIGH_STEAL = 0.005


def remarks(machine: Machine) -> list[str]:
    """Returns one sentence for each thing that can distort times on this machine."""
    checks = (_cores, _limits, _frequency, _sharing, _clock, _caches)
    return [sentence for look in checks for sentence in look(machine)]


def is_loaded(machine: Machine) -> bool:
    """True if other programs are probably running."""
    return machine.load[0] > max(0.5, HIGH_LOAD * len(machine.pus))


def _cores(machine: Machine) -> Iterator[str]:
    if machine.cores == 1:
        yield (
            "only one core may be used: two ranks take turns on it, "
            "so times between ranks do not describe the machine"
        )
    hidden = len(machine.pus) - len(machine.usable)
    if hidden:
        yield f"{hidden} of {len(machine.pus)} CPUs may not be used (affinity or cpuset)"
    if machine.threads_per_core > 1:
        yield (
            f"SMT is on ({machine.threads_per_core} CPUs per core): "
            "ranks are put on different cores, but other programs may run on the siblings"
        )
    capacities = {pu.capacity for pu in machine.usable} - {None}
    if len(capacities) > 1:
        yield "the cores are of different speed: times depend on the one of a rank"


def _limits(machine: Machine) -> Iterator[str]:
    quota = machine.cpu_quota
    if quota is not None and quota < machine.cores:
        yield (
            f"the cgroup allows {quota:.3g} CPUs' worth of time on {many(machine.cores, 'core')}: "
            "ranks that poll will be stopped in between"
        )
    limit = machine.memory_limit_bytes
    if limit is not None and limit < machine.memory_total_bytes:
        yield f"the cgroup allows {limit / 2**30:.3g} GiB of memory, large messages may be skipped"


def _frequency(machine: Machine) -> Iterator[str]:
    slow = [governor for governor in machine.governors if governor != "performance"]
    if slow:
        yield (
            f"the frequency governor is {' and '.join(slow)}, not performance: "
            "the clock rate may change while we measure"
        )


def _sharing(machine: Machine) -> Iterator[str]:
    if is_loaded(machine):
        yield (
            f"the load is {machine.load[0]:.1f} on {many(len(machine.pus), 'CPU')}: "
            "other programs are running, or were until a minute ago"
        )
    if machine.steal_ratio > HIGH_STEAL:
        yield (
            f"the hypervisor has given {machine.steal_ratio:.1%} of the CPU time since boot "
            "to others"
        )


def _clock(machine: Machine) -> Iterator[str]:
    if machine.clocksource and machine.clocksource not in GOOD_CLOCKS:
        yield (
            f"the kernel's clock source is {machine.clocksource}: "
            "reading the time may be slow or coarse"
        )


def _caches(machine: Machine) -> Iterator[str]:
    if not machine.caches:
        yield "the machine does not report its caches, so cold caches are a guess"

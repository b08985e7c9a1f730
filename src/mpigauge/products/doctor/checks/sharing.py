# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Other programs and virtual machines on this machine, and their cost."""

from __future__ import annotations

from collections.abc import Iterator

from mpigauge.model.detours import hit_ratio
from mpigauge.model.units import duration, many, percent
from mpigauge.products.doctor.check_finding import (
    CheckFinding,
    CoreNoise,
    Host,
    bad,
    good,
    note,
    unknown,
)
from mpigauge.products.doctor.registry import check
from mpigauge.site.topology.remarks import HIGH_STEAL, is_loaded

CALL_S = 20e-6
"""A collective call of this length is taken as the example."""
QUIET, LOUD = 0.002, 0.02
"""Shares of the time of a core that may get lost: below the first good, above the second bad."""


@check("load", "whether other programs are running")
def load(host: Host) -> Iterator[CheckFinding]:
    machine = host.machine
    if host.files.text("proc/loadavg") is None:
        yield unknown("the load cannot be read")
    elif is_loaded(machine):
        yield note(
            f"the load is {machine.load[0]:.1f} on {many(len(machine.pus), 'CPU')}",
            "a rank that shares its core waits for whole time slices, milliseconds",
            "end other programs (`top` shows them), or ask for the whole node",
        )
    else:
        yield good(f"{machine.load[0]:.1f} on {many(len(machine.pus), 'CPU')}")


@check("virtual", "whether this is a virtual machine, and what its host takes")
def virtual(host: Host) -> Iterator[CheckFinding]:
    machine = host.machine
    if host.files.text("proc/cpuinfo") is None:
        yield unknown("whether this is a virtual machine cannot be read")
    elif machine.steal_ratio > HIGH_STEAL:
        yield bad(
            f"the hypervisor has given {percent(machine.steal_ratio)} of the CPU time to others",
            "ranks stand still for milliseconds without a trace in this machine",
            "a host of its own, or a type of machine whose CPUs are not shared",
        )
    elif machine.hypervisor:
        yield note(
            "a virtual machine",
            "each timer tick costs some 20 µs where it leaves the guest; caches, NUMA nodes and "
            "model of the CPU may be made up",
            "nothing from inside; trust measured values more than reported ones",
        )
    else:
        yield good("no hypervisor")


@check("noise", "how much time of each core goes to something else")
def noise(host: Host) -> Iterator[CheckFinding]:
    if host.measured is None:
        yield unknown("not measured: this is a record of a machine")
        return
    for problem in host.measured.problems:
        yield unknown(problem)
    if not host.measured.noise:
        yield unknown("not measured")
        return
    yield _judged(host, host.measured.noise)


def _judged(host: Host, cores: tuple[CoreNoise, ...]) -> CheckFinding:
    worst = max(cores, key=lambda core: core.lost_ratio)
    fact = (
        f"{percent(worst.lost_ratio)} of CPU {worst.pu}, the worst of {len(cores)}: "
        f"{worst.per_second:.0f} detours a second, the longest {duration(worst.longest_s)}"
    )
    if worst.lost_ratio < QUIET:
        return good(fact)
    state = bad if worst.lost_ratio > LOUD else note
    if _is_shared(worst):
        return state(
            fact,
            f"other programs took the core: a rank there has {percent(1 - worst.lost_ratio)} of it",
            "end them (`top` shows them), or ask for the whole node",
        )
    hit = hit_ratio(CALL_S, [core.per_second for core in cores])
    costs = (
        f"in {percent(hit)} of the calls that take {duration(CALL_S)} on {len(cores)} cores a "
        "detour begins; medians and minima stand it, means do not"
    )
    return state(fact, costs, _mend(host))


def _is_shared(core: CoreNoise) -> bool:
    """True if the scheduler took the core away more than once a second."""
    return core.switched_out > core.seconds


def _mend(host: Host) -> str:
    if host.machine.hypervisor:
        return "the ticks of a virtual machine: a host without one, or more launches"
    return "boot with `nohz_full=` and `isolcpus=` for the cores to measure; stop daemons"

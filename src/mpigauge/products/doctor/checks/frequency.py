# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Clock rates, and the clock that times are read from."""

from __future__ import annotations

from collections.abc import Iterator

from mpigauge.products.doctor.check_finding import CheckFinding, Host, bad, good, note, unknown
from mpigauge.products.doctor.registry import check
from mpigauge.site.topology.remarks import GOOD_CLOCKS

SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies", "pit", "xen")
"""The clocks that need a device or a system call to be read."""
AVAILABLE = "sys/devices/system/clocksource/clocksource0/available_clocksource"


@check("governor", "whether the clock rate of the cores is held up")
def governor(host: Host) -> Iterator[CheckFinding]:
    governors = host.machine.governors
    slow = [name for name in governors if name != "performance"]
    if not governors:
        yield unknown(
            "frequency governor: unknown"
            + (": the host of this virtual machine decides" if host.machine.hypervisor else "")
        )
    elif slow:
        yield note(
            f"the frequency governor is {' and '.join(slow)}",
            "cores are slow after each idle moment: the first samples are too long, and launches "
            "differ",
            "`sudo cpupower frequency-set -g performance`",
        )
    else:
        yield good("performance")


@check("turbo", "whether cores may run above their nominal rate")
def turbo(host: Host) -> Iterator[CheckFinding]:
    on = host.machine.turbo
    if on is None:
        yield unknown("whether turbo is on cannot be read")
    elif on:
        yield good("on; the rate depends on how many cores are busy, as it does for programs")
    else:
        yield note(
            "turbo is off",
            "times are steadier and longer than those that programs see with it",
            "`echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo`, on AMD "
            "`echo 1 | sudo tee /sys/devices/system/cpu/cpufreq/boost`",
        )


@check("clock", "what the kernel reads the time from")
def clock(host: Host) -> Iterator[CheckFinding]:
    source = host.machine.clocksource
    others = (host.files.text(AVAILABLE) or "").split()
    if source is None:
        yield unknown("the kernel does not report its clock source")
    elif source in GOOD_CLOCKS:
        yield good(source)
    else:
        better = next((name for name in GOOD_CLOCKS if name in others), None)
        how = (
            f"`echo {better} | sudo tee {_CURRENT}`"
            if better
            else f"boot with clocksource={GOOD_CLOCKS[0]}, or ask who runs the host"
        )
        fact = f"the kernel reads the time from {source}"
        if source in SLOW_CLOCKS:
            yield bad(
                fact,
                "each reading of the clock takes about a microsecond: more than a message",
                how,
            )
        else:
            yield note(fact, "looking at the time may be slow or coarse", how)


_CURRENT = "/sys/devices/system/clocksource/clocksource0/current_clocksource"

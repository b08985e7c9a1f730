# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""GPUs whose clock was held down."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

from mpigauge.model.record import GpuState
from mpigauge.model.units import first_few
from mpigauge.products.explain.needs import FACT
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ON_GPUS

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


_MOST = 3
"""States that are named."""


@cause("gpu-throttled", "GPUs whose clock is held down", of=ON_GPUS, sure_from=FACT)
def look(view: RunView) -> Iterator[Finding]:
    held = [state for state in view.run.of(GpuState) if state.throttle]
    if held:
        buses = first_few(dict.fromkeys(state.bus for state in held))
        reasons = dict.fromkeys(word for state in held for word in state.throttle.split(","))
        yield Finding(
            what=f"GPU {buses}: its clock is held down ({', '.join(map(str.strip, reasons))})",
            likely="kernels of reductions and copies within the GPU take longer than on a cool GPU "
            "with its full power; PCIe and NVLink keep their speed",
            evidence=tuple(dict.fromkeys(map(_state, held)))[:_MOST],
            attempts=(
                "`nvidia-smi -q -d PERFORMANCE,CLOCK,POWER`: a limit of power, heat or the slot?",
                "measure again when the machine is cool, and compare only runs without it",
            ),
        )


def _state(state: GpuState) -> str:
    words = [f"{state.bus} {state.when} launch {state.launch}: {state.throttle}"]
    if isfinite(state.clock_hz) and isfinite(state.clock_max_hz):
        words.append(f"{state.clock_hz / 1e6:.0f} of {state.clock_max_hz / 1e6:.0f} MHz")
    if isfinite(state.temperature_c):
        words.append(f"{state.temperature_c:.0f} °C")
    if isfinite(state.power_w):
        words.append(f"{state.power_w:.0f} W")
    return ", ".join(words)

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The line of a heading with the GPUs of a run's ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.units import listed

if TYPE_CHECKING:
    from mpigauge.result.facts import Facts
    from mpigauge.result.gpus import GpuOfRanks

MOST = 4
"""GPUs that a brief heading names."""


def used_gpus(facts: Facts, is_brief: bool = False) -> str:
    """The GPU of each rank, with the settings that were added for them."""
    names = listed(dict.fromkeys(gpu.name for gpu in facts.gpus))
    driver = f" (CUDA {facts.cuda})" if facts.cuda else ""
    shown = facts.gpus[: MOST if is_brief else None]
    places = [_place(gpu, len(facts.hosts) > 1, with_link=not is_brief) for gpu in shown]
    if left := len(facts.gpus) - len(shown):
        places.append(f"{left} more")
    line = f"{len(facts.gpus)} × {names}{driver}: {'; '.join(places)}"
    if facts.gpu_settings and not is_brief:
        line += f"; {' '.join(facts.gpu_settings)} added for them"
    return line


def _place(gpu: GpuOfRanks, with_host: bool, with_link: bool) -> str:
    noun = "rank" if len(gpu.ranks) == 1 else "ranks"
    host = f"{gpu.host} " if with_host else ""
    link = f", PCIe {gpu.link}" if gpu.link and with_link else ""
    return f"{noun} {as_list(gpu.ranks)} on {host}{gpu.bus}{link}"

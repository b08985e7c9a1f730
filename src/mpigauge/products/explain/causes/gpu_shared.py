# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""GPUs that several processes use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.record import GpuState
from mpigauge.model.units import first_few, many
from mpigauge.products.explain.needs import FACT, gpus
from mpigauge.products.explain.on_gpu import ranks_with_gpus
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ON_GPUS

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause("gpu-shared", "GPUs that several processes use", gpus, of=ON_GPUS, sure_from=FACT)
def look(view: RunView) -> Iterator[Finding]:
    shared = {rank.gpu.bus: rank for rank in ranks_with_gpus(view) if rank.gpu.ranks_on_it > 1}
    if shared:
        turns = not all(rank.gpu.mps for rank in shared.values())
        yield Finding(
            what=f"GPU {first_few(shared)}: several ranks share it",
            likely="its driver serves one process at a time and changes between them in turns of "
            "a fraction of a millisecond, which is in every message between these ranks"
            if turns
            else "MPS lets the ranks use it at the same time, but they share its copy engines and "
            "its memory; nothing here is about links between GPUs",
            evidence=tuple(
                f"{bus}: {many(rank.gpu.ranks_on_it, 'rank')}, {'with' if rank.gpu.mps else 'no'} "
                "MPS"
                for bus, rank in shared.items()
            ),
            attempts=(
                *(["MPS (nvidia-cuda-mps-control -d), which ends the turns"] if turns else []),
                "as many ranks per host as it has GPUs",
            ),
        )
    others = {state.bus: state for state in view.run.of(GpuState) if state.others}
    if others:
        yield Finding(
            what=f"GPU {first_few(others)}: other processes use it, too",
            likely="whatever they compute or copy is in these times",
            evidence=tuple(
                f"{bus}: {many(state.others, 'other process')} {state.when} the measurement"
                for bus, state in others.items()
            ),
            attempts=(
                "`nvidia-smi` shows them; measure again when they are gone",
                "a GPU of its own for the job (--exclusive or --gpus of the batch system)",
            ),
        )

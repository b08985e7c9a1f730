# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The conditions of a stored run: machine, MPI, transport, settings and ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.record import JOB, Figure, Sampled
from mpigauge.model.transport import WITHIN
from mpigauge.result.stats.figures import figure_rows
from mpigauge.result.stats.order import median

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.model.record import Rank
    from mpigauge.result.gpus import GpuOfRanks
    from mpigauge.runs.store import Run


class UsualDetours(NamedTuple):
    """The noise on the cores before the launches: medians over launches with any detours."""

    per_s: float
    length_s: float
    lost_ratio: float
    calm_s: float
    batch_s: float


@dataclass(frozen=True)
class Facts:
    """The conditions under which the rows were measured."""

    version: str = ""
    command: str = ""
    created: str = ""
    """UTC, as 2026-11-21T05:00:00Z."""
    imported: str = ""
    """The programs and files of imported numbers; empty: measured by mpigauge."""
    host: str = ""
    hosts: tuple[str, ...] = ()
    """The hosts of the ranks, in their order."""
    cpu: str = ""
    architecture: str = ""
    system: str = "Linux"
    kernel: str = ""
    kernel_version: str = ""
    mpi: str = ""
    transport: str = ""
    """The transport named by --transport, and the one that the MPI reports; empty: the MPI
    chose."""
    tuned: str = ""
    """The tuning whose rules the MPI followed; empty: its own."""
    own_settings: tuple[str, ...] = ()
    """Settings that mpigauge itself added, as NAME=VALUE."""
    gpu_settings: tuple[str, ...] = ()
    """Settings that mpigauge added for buffers on a GPU, as NAME=VALUE."""
    gpus: tuple[GpuOfRanks, ...] = ()
    """The GPUs of the ranks."""
    cuda: str = ""
    """The version of CUDA that the driver supports; empty: no buffer is on a GPU."""
    mpi_library: str = ""
    mpi_standard: str = ""
    thread_level: str = ""
    world_ranks: int = 2
    """The ranks of the largest launch."""
    imported_ranks: tuple[int, ...] = ()
    """The ranks of the runs that were imported, each number once, if they differ."""
    init_s: tuple[float, ...] = ()
    """The seconds of MPI_Init in each launch, on the slowest rank."""
    sampled: tuple[Sampled, ...] = ()
    """The noise on the cores that each launch sampled before it began."""
    memory: Mapping[str, float] = field(default_factory=dict)
    """Bytes by name: what the largest rank took, and the least that was left; of all launches."""
    status: str = "done"
    multi: int | None = None
    """IMB's -multi: 0 one row over all groups, 1 a row for each; None: one group."""
    map: tuple[int, int] | None = None
    """IMB's -map PxQ."""
    benchmarks: tuple[str, ...] = ()
    """The requested benchmarks, including those without rows."""

    @property
    def usual_init_s(self) -> float:
        """The median seconds of MPI_Init over launches, of which there must be one."""
        return median(self.init_s)

    @property
    def detours(self) -> UsualDetours | None:
        """The usual detours of the cores; None: no launch has sampled any."""
        noisy = [each for each in self.sampled if each.detours_per_s > 0]
        if not noisy:
            return None
        return UsualDetours(
            per_s=median(each.detours_per_s for each in noisy),
            length_s=median(each.detour_s for each in noisy),
            lost_ratio=median(each.lost_ratio for each in noisy),
            calm_s=median(each.calm_s for each in noisy),
            batch_s=median(each.batch_s for each in noisy),
        )


def facts_of_run(run: Run) -> Facts:
    machine = run.passport.get("machine") or {}
    mpi = run.header.get("mpi") or {}
    command = run.header.get("command") or ""
    first = run.launches[0] if run.launches else None
    plan = run.plan
    return Facts(
        version=str(run.header.get("version", "")),
        command=command if isinstance(command, str) else " ".join(map(str, command)),
        created=str(run.header.get("created", "")),
        imported=_imported(run.header.get("imported") or {}),
        host=str(machine.get("hostname", "")),
        hosts=tuple(dict.fromkeys(rank.host for rank in run.ranks)),
        cpu=str(machine.get("cpu_model", "")),
        architecture=str(machine.get("architecture", "")),
        kernel=str(machine.get("kernel", "")),
        kernel_version=str(machine.get("kernel_version", "")),
        mpi=f"{mpi.get('name', '')} {mpi.get('version', '')}".strip(),
        transport=_transport(run),
        tuned=tuned_in_words(run.header),
        own_settings=_settings(run, "own_settings"),
        gpu_settings=_settings(run, "gpu_settings"),
        gpus=_gpus(run.ranks),
        cuda=first.cuda_driver if first else "",
        mpi_library=first.mpi_library if first else "",
        mpi_standard=first.mpi_standard if first else "",
        thread_level=first.thread_level if first else "",
        init_s=starts_of(run.ranks),
        sampled=tuple(run.of(Sampled)),
        memory=_memory(run.of(Figure)),
        world_ranks=max((launch.world_ranks for launch in run.launches), default=0),
        imported_ranks=_imported_ranks(run),
        status=str(run.status.get("status", "unfinished")),
        multi=plan.get("multi"),
        map=_pair(plan.get("map")),
        benchmarks=tuple(plan.get("benchmarks") or ()),
    )


def _settings(run: Run, kind: str) -> tuple[str, ...]:
    """The settings of a kind that mpigauge added to those of the user."""
    settings = run.header.get(kind) or {}
    return tuple(f"{str(name).removeprefix('OMPI_MCA_')}={settings[name]}" for name in settings)


def _imported_ranks(run: Run) -> tuple[int, ...]:
    numbers = {launch.world_ranks for launch in run.launches if launch.world_ranks}
    if run.header.get("imported") and len(numbers) > 1:
        return tuple(sorted(numbers))
    return ()


def _imported(imported: Mapping[str, Any]) -> str:
    """Programs, then the files or the publication."""
    where = [str(imported.get("source", "")), *map(str, imported.get("files") or ())]
    programs = ", ".join(map(str, imported.get("sources") or ()))
    return ", from ".join(filter(None, [programs, ", ".join(filter(None, where))]))


# What few runs hold is looked at by modules that the others need not wait for.
def _gpus(ranks: Sequence[Rank]) -> tuple[GpuOfRanks, ...]:
    if all(rank.gpu.index < 0 for rank in ranks):
        return ()
    from mpigauge.result.gpus import gpus_of

    return gpus_of(ranks)


def _transport(run: Run) -> str:
    """Returns the requested transport and the one that the MPI reported. A network is left out if
    none was requested and all ranks are on one host, since they share memory."""
    selected = run.header.get("transport") or {}
    name = str(selected.get("name") or "")
    used = run.used or str(selected.get("used") or "")
    if not name:
        hosts = {rank.host for rank in run.ranks}
        if len(hosts) > 1 or WITHIN in used:
            return used
        return ""
    if used:
        return f"{name} ({used})"
    return name


def starts_of(ranks: Iterable[Rank]) -> tuple[float, ...]:
    """Returns the seconds of MPI_Init on the slowest rank of each launch that recorded them."""
    slowest: dict[int, float] = {}
    for rank in ranks:
        if math.isfinite(rank.init_s):
            slowest[rank.launch] = max(rank.init_s, slowest.get(rank.launch, 0.0))
    return tuple(slowest[launch] for launch in sorted(slowest))


def _memory(figures: Iterable[Figure]) -> dict[str, float]:
    """The worst launch of each."""
    rows = figure_rows(figure for figure in figures if figure.benchmark == JOB)
    worst: dict[str, float] = {}
    for row in rows:
        choose = min if row.figure.better == "higher" else max
        worst[row.figure.name] = choose(row.worst, worst.get(row.figure.name, row.worst))
    return worst


def _pair(value: Any) -> tuple[int, int] | None:
    if not value:
        return None
    first, second = value
    return int(first), int(second)


def tuned_in_words(header: Mapping[str, Any]) -> str:
    """The tuning that a run was made with, by run.json: tuned (1a2b3c4d); empty: none."""
    tuned = header.get("tuned") or {}
    if not tuned:
        return ""
    return f"{Path(str(tuned.get('folder', ''))).name} ({str(tuned.get('sha256', ''))[:8]})"

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The mix of MPI calls of a program, from which it is replayed: its calls without their places.

profile/replay-000-0.json   the mix of one job; launch and job are in the name
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from mpigauge.model.errors import RunError, UserError
from mpigauge.runs.store.files import failing_as, write_whole

FOLDER = "profile"
STEM = "replay"
SCHEMA = 1
Group = tuple[tuple[int, ...], ...]
"""Communicators that have no rank in common: the ranks of the program in each."""


@dataclass(frozen=True)
class MixStep:
    """Similar calls, and the parameters of a call that replays them."""

    call: str
    """The call as the kernels name it: allreduce."""
    message_bytes: int
    group: int
    """The index in ReplayMix.groups."""
    calls: int
    """The number of calls in the whole run."""
    seconds: float
    """Time in all calls, mean over all ranks of the program."""
    root: int = 0
    window: int = 1
    """The number of each message before a wait."""
    messages: tuple[tuple[int, int], ...] = ()
    """Source and target rank of each message."""
    lateness_s: tuple[tuple[float, ...], ...] = ()
    """The lateness of each rank after the first one, for a sample of calls; empty: unknown."""


@dataclass(frozen=True)
class ReplayMix:
    """The replayable part of one job of one launch."""

    run: str
    """The name of the run folder; empty until it is stored."""
    ranks: int
    run_s: tuple[float, ...]
    """Seconds from MPI_Init to MPI_Finalize, by rank."""
    mpi_s: tuple[float, ...]
    """Seconds in MPI, by rank."""
    groups: tuple[Group, ...]
    steps: tuple[MixStep, ...]
    left_out: tuple[tuple[str, float], ...]
    """Calls that are not replayed with their mean seconds per rank, largest first."""

    @property
    def mean_mpi_s(self) -> float:
        return sum(self.mpi_s) / self.ranks


def save_replay(folder: Path, launch: int, job: int, mix: ReplayMix) -> None:
    """Writes the mix into a run folder. RunError: it cannot be written."""
    path = folder / FOLDER / f"{STEM}-{launch:03d}-{job}.json"
    with failing_as(RunError, path):
        path.parent.mkdir(exist_ok=True)
        write_whole(path, json.dumps({"schema": SCHEMA, **asdict(mix)}))


def load_replay(folder: Path) -> ReplayMix | None:
    """The replay of the launch with the median time in MPI, and of its jobs the one with most
    calls. None: the run has none. UserError: a file cannot be read."""
    launches: dict[str, ReplayMix] = {}
    for path in sorted((folder / FOLDER).glob(f"{STEM}-*.json")):
        launch = path.stem.removeprefix(f"{STEM}-").partition("-")[0]
        mix = _load(path, folder.name)
        if launch not in launches or _calls(mix) > _calls(launches[launch]):
            launches[launch] = mix
    mixes = sorted(launches.values(), key=lambda mix: mix.mean_mpi_s)
    if mixes:
        return mixes[len(mixes) // 2]
    return None


def _calls(mix: ReplayMix) -> int:
    return sum(step.calls for step in mix.steps)


def _load(path: Path, run: str) -> ReplayMix:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] > SCHEMA:
            raise UserError(f"{path} was written by a newer mpigauge; update mpigauge to read it")
        return _mix(data, run)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is damaged: {error}") from None


def _mix(data: Mapping[str, Any], run: str) -> ReplayMix:
    return ReplayMix(
        run=run,
        ranks=int(data["ranks"]),
        run_s=tuple(map(float, data["run_s"])),
        mpi_s=tuple(map(float, data["mpi_s"])),
        groups=tuple(_rows(group) for group in data["groups"]),
        steps=tuple(_step(each) for each in data["steps"]),
        left_out=tuple((str(call), float(seconds)) for call, seconds in data["left_out"]),
    )


def _step(data: Mapping[str, Any]) -> MixStep:
    values = {each.name: data[each.name] for each in fields(MixStep)}
    values["messages"] = tuple((int(source), int(target)) for source, target in values["messages"])
    values["lateness_s"] = _rows(values["lateness_s"])
    return MixStep(**values)


def _rows(rows: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in rows)

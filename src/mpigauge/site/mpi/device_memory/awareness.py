# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The families of calls in which MPIs of this host accepted device memory, as trials showed.

Trials are kept in the user's cache, one file for each MPI, and count until its library or the
driver's changes, or until a trial with the same settings replaces them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.site.builds.remembered import keep, kept

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

_KIND = "device-memory"
_MOST = 256
"""Trials that are kept of an MPI, the latest."""
PREFIXES = (
    "CUDA_", "FI_", "I_MPI_", "LD_LIBRARY_PATH", "LD_PRELOAD", "MPICH_", "MPIR_CVAR_", "MV2_",
    "MVP_", "OMPI_MCA_", "PMIX_MCA_", "PSM2_", "UCX_",
)  # fmt: skip
"""Beginnings of the variables that decide what an MPI does with device memory."""


@dataclass(frozen=True)
class Circumstances:
    """The conditions of a trial beside the MPI."""

    driver: str
    """The driver's library; empty: it is on other hosts."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The settings and variables with which ranks started."""
    is_shared: bool = False
    """True if ranks shared a GPU."""
    hosts: int = 1


@dataclass(frozen=True)
class CallTrial:
    """A trial of a family of calls with buffers in a kind of memory."""

    family: str
    memory: str
    """device, managed, or device:host for the two ranks of a pair."""
    circumstances: Circumstances
    accepted: tuple[str, ...] = ()
    """The benchmarks that had right data."""
    refused: str = ""
    """The benchmark at which the trial ended; empty: at none."""
    reason: str = ""
    """The reason why it ended there."""
    protocols: tuple[str, ...] = ()
    """The protocols that UCX used, if the MPI is on UCX."""

    @property
    def is_aware(self) -> bool:
        return not self.refused


def trials_of(mpi: Mpi, driver: str) -> tuple[CallTrial, ...]:
    """Returns the trials of an MPI with this driver's library, the latest last."""
    answer = kept(_KIND, *_subject(mpi, driver))
    if not answer:
        return ()
    try:
        return tuple(_trial(each) for each in json.loads(answer))
    except (KeyError, TypeError, ValueError):
        return ()


def latest_trials(trials: Iterable[CallTrial]) -> dict[str, tuple[CallTrial, ...]]:
    """Returns the latest trial of each family of calls, by the kind of memory."""
    latest = {(trial.memory, trial.family): trial for trial in trials}
    by_memory: dict[str, tuple[CallTrial, ...]] = {}
    for (memory, _), trial in latest.items():
        by_memory[memory] = (*by_memory.get(memory, ()), trial)
    return by_memory


def keep_trials(mpi: Mpi, driver: str, trials: Iterable[CallTrial]) -> None:
    """Adds trials to those of this MPI; one of the same family, memory and circumstances replaces
    an earlier one."""
    by_subject = {_key(each): each for each in trials_of(mpi, driver)}
    for trial in trials:
        by_subject.pop(_key(trial), None)
        by_subject[_key(trial)] = trial
    records = [asdict(each) for each in list(by_subject.values())[-_MOST:]]
    keep(_KIND, *_subject(mpi, driver), json.dumps(records))


def relevant(env: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables that decide what an MPI does with device memory."""
    return {name: value for name, value in sorted(env.items()) if name.startswith(PREFIXES)}


def _subject(mpi: Mpi, driver: str) -> tuple[list[str], list[Path]]:
    """Returns the words that name the file, and the files that trials depend on."""
    files = [mpi.library, *([Path(driver)] if driver else [])]
    return [str(mpi.library), mpi.abi, driver], files


def _key(trial: CallTrial) -> str:
    return json.dumps([trial.family, trial.memory, asdict(trial.circumstances)], sort_keys=True)


def _trial(data: Mapping[str, object]) -> CallTrial:
    values = dict(data)
    circumstances = values.pop("circumstances")
    if not isinstance(circumstances, dict):
        raise TypeError("this is no trial")
    accepted, protocols = (_tuple(values.pop(name, [])) for name in ("accepted", "protocols"))
    words = {name: str(value) for name, value in values.items()}
    return CallTrial(
        **words,
        circumstances=Circumstances(**circumstances),
        accepted=accepted,
        protocols=protocols,
    )


def _tuple(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("this is no trial")
    return tuple(map(str, value))

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Arrival patterns: the lateness of ranks of real programs at their collectives.

profile/arrivals-000-0.json   descriptions of the patterns, one after the other
profile/arrivals-000-0.npz    their vectors: lateness-0, roots-0, lateness-1, …

A vector holds the lateness of all ranks in one call, since ranks are seldom late independently of
each other: means, or quantiles rank by rank, do not show which ranks are late together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from mpigauge.model.errors import RunError, UserError
from mpigauge.runs.store.files import failing_as, shown_json, whole, write_whole

FOLDER = "profile"
SCHEMA = 1
STEM = "arrivals"
_NAMES = (
    *("call", "message_bytes", "least_bytes", "most_bytes", "members", "communicator", "region"),
    *("function", "source_file", "line", "spot", "calls", "seconds", "left_out"),
)
"""The fields of a pattern that its JSON holds."""
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, EOFError, BadZipFile)
"""Errors from reading a damaged file."""


@dataclass(frozen=True)
class ArrivalPattern:
    """The lateness of a communicator's ranks at one collective, of one size, at one call site."""

    call: str
    """The MPI function, such as MPI_Allreduce."""
    message_bytes: int
    """The mean over the calls, as in tables: the part of one rank for collectives with equal parts.
    """
    least_bytes: int
    most_bytes: int
    members: tuple[int, ...]
    """Ranks in MPI_COMM_WORLD, by rank in the communicator."""
    communicator: str
    region: str
    function: str
    """The function of the first rank's call, from debug information; empty: unknown."""
    source_file: str
    line: int
    spot: int
    """The index of the call site in `spots` of the profile."""
    calls: float
    """The number of all calls, kept or not."""
    seconds: float
    """Time in all calls, mean per rank."""
    left_out: int
    """The number of kept calls that are excluded as disturbed: a rank was far later than usual."""
    lateness_s: npt.NDArray[np.float32]
    """Seconds by which a rank was later than the first one, by call and rank."""
    roots: npt.NDArray[np.int32]
    """The root of each call, as a rank of the communicator; below 0: the collective has none."""
    launch: int = 0
    job: int = 0

    @property
    def ranks(self) -> int:
        return len(self.members)

    @property
    def place(self) -> str:
        """The place of the call in words, as far as it is known."""
        function = self.function.partition("(")[0]
        file = f"{PurePath(self.source_file).name}:{self.line}" if self.source_file else ""
        return " at ".join(filter(None, (function, file)))


class ArrivalsOfRun(NamedTuple):
    """The arrival patterns of all collectives in a profile."""

    run: str
    """The name of the run folder."""
    patterns: Sequence[ArrivalPattern]


def save_arrivals(folder: Path, launch: int, job: int, patterns: Sequence[ArrivalPattern]) -> None:
    """Writes patterns into a run folder, if there are any. RunError: it cannot be written."""
    if not patterns:
        return
    stem = folder / FOLDER / f"{STEM}-{launch:03d}-{job}"
    with failing_as(RunError, stem.parent):
        stem.parent.mkdir(exist_ok=True)
    arrays: dict[str, Any] = {}
    for number, pattern in enumerate(patterns):
        arrays[f"lateness-{number}"] = pattern.lateness_s
        arrays[f"roots-{number}"] = pattern.roots
    numbers, names = stem.with_suffix(".npz"), stem.with_suffix(".json")
    with failing_as(RunError, numbers), whole(numbers) as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)
    entries = [{name: getattr(pattern, name) for name in _NAMES} for pattern in patterns]
    with failing_as(RunError, names):
        write_whole(names, json.dumps({"schema": SCHEMA, "patterns": entries}, ensure_ascii=False))


def arrival_patterns(folder: Path) -> list[ArrivalPattern]:
    """All patterns in a run folder, by launch and job; those that take longest first in each.

    UserError: a file cannot be read.
    """
    patterns = []
    for path in sorted((folder / FOLDER).glob(f"{STEM}-*.json")):
        patterns += _load(path)
    patterns.sort(key=lambda each: (each.launch, each.job))
    return patterns


def _load(path: Path) -> list[ArrivalPattern]:
    numbers = path.with_suffix(".npz")
    try:
        data = json.loads(shown_json(path.read_text(encoding="utf-8")))
        if data["schema"] > SCHEMA:
            raise UserError(f"{path} was written by a newer mpigauge; update mpigauge to read it")
        launch, job = map(int, path.stem.removeprefix(f"{STEM}-").split("-"))
        with numbers.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            read = list(_read(data["patterns"], arrays))
    except OSError as error:
        raise UserError(f"cannot read {error.filename or path}: {error.strerror}") from None
    except _DAMAGE as error:
        raise UserError(f"{path} or {numbers.name} is damaged: {error}") from None
    return [replace(pattern, launch=launch, job=job) for pattern in read]


def _read(entries: Sequence[Any], arrays: Any) -> Iterator[ArrivalPattern]:
    for number, each in enumerate(entries):
        lateness = np.asarray(arrays[f"lateness-{number}"], dtype=np.float32)
        roots = np.asarray(arrays[f"roots-{number}"], dtype=np.int32)
        if lateness.shape != (len(roots), len(each["members"])):
            raise ValueError(f"pattern {number} has no row for each call and column for each rank")
        values = {name: each[name] for name in _NAMES}
        values["members"] = tuple(each["members"])
        yield ArrivalPattern(**values, lateness_s=lateness, roots=roots)

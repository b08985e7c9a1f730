# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Arrival patterns: how late the ranks of real programs came to their collectives.

profile/arrivals-000-0.json   what the patterns are of, one after the other
profile/arrivals-000-0.npz    their vectors: lateness-0, roots-0, lateness-1, …

A vector holds the lateness of all ranks in one call, since ranks are seldom late independently of
each other: means, or quantiles rank by rank, lose who is late together with whom.
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
"""What the JSON holds of a pattern."""
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, EOFError, BadZipFile)
"""What reading ends with where a file is not what was written."""


@dataclass(frozen=True)
class ArrivalPattern:
    """How late the ranks of a communicator came to one collective, of one size, at one place."""

    call: str
    """MPI_Allreduce."""
    message_bytes: int
    """In the mean of the calls, as tables have it: of collectives with equal parts the part for one
    rank."""
    least_bytes: int
    most_bytes: int
    members: tuple[int, ...]
    """Ranks of MPI_COMM_WORLD, by their rank in the communicator."""
    communicator: str
    region: str
    function: str
    """Where the first rank made the call, as the debug information has it; empty: not known."""
    source_file: str
    line: int
    spot: int
    """The call site's place in `spots` of the profile."""
    calls: float
    """All there were, kept or not."""
    seconds: float
    """In all of them, of a rank in the mean."""
    left_out: int
    """Kept calls to which somebody came far later than usual, which is disturbance."""
    lateness_s: npt.NDArray[np.float32]
    """By call and rank: how long after the first one a rank came."""
    roots: npt.NDArray[np.int32]
    """By call, ranks of the communicator; below 0: the collective has none."""
    launch: int = 0
    job: int = 0

    @property
    def ranks(self) -> int:
        return len(self.members)

    @property
    def place(self) -> str:
        """The call's place in words, as far as it is known."""
        function = self.function.partition("(")[0]
        file = f"{PurePath(self.source_file).name}:{self.line}" if self.source_file else ""
        return " at ".join(filter(None, (function, file)))


class ArrivalsOfRun(NamedTuple):
    """How ranks came to all collectives of a profile."""

    run: str
    """The name of its folder."""
    patterns: Sequence[ArrivalPattern]


def save_arrivals(folder: Path, launch: int, job: int, patterns: Sequence[ArrivalPattern]) -> None:
    """Into a run folder; nothing where there are none. RunError: it cannot be written."""
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
    told = [{name: getattr(pattern, name) for name in _NAMES} for pattern in patterns]
    with failing_as(RunError, names):
        write_whole(names, json.dumps({"schema": SCHEMA, "patterns": told}, ensure_ascii=False))


def arrival_patterns(folder: Path) -> list[ArrivalPattern]:
    """All that a run folder holds, by launch and job; in each the one that takes longest first.

    UserError: what is there cannot be read.
    """
    found = []
    for path in sorted((folder / FOLDER).glob(f"{STEM}-*.json")):
        found += _load(path)
    found.sort(key=lambda each: (each.launch, each.job))
    return found


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


def _read(told: Sequence[Any], arrays: Any) -> Iterator[ArrivalPattern]:
    for number, each in enumerate(told):
        lateness = np.asarray(arrays[f"lateness-{number}"], dtype=np.float32)
        roots = np.asarray(arrays[f"roots-{number}"], dtype=np.int32)
        if lateness.shape != (len(roots), len(each["members"])):
            raise ValueError(f"pattern {number} has no row for each call and column for each rank")
        said = {name: each[name] for name in _NAMES}
        said["members"] = tuple(each["members"])
        yield ArrivalPattern(**said, lateness_s=lateness, roots=roots)

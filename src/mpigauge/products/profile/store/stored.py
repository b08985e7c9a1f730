# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Stores profiles in run folders: names as JSON, numbers as npz files.

profile/launch-000-0.json   names: ranks, places in the program, communicators, types
profile/launch-000-0.npz    rows, cells, waits, timelines and recorded calls of the profile
profile/arrivals-000-0.*    arrival patterns of collectives (runs/store/arrivals.py)

The last number is the number of the job, as a script may start several in one launch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mpigauge.model.errors import RunError, UserError
from mpigauge.model.secrets import masked_words
from mpigauge.products.profile.match.merge import CELL, Profile, Spot
from mpigauge.products.profile.match.standing import Standing
from mpigauge.products.profile.match.timeline import TimedCalls
from mpigauge.products.profile.match.waiting import WAIT
from mpigauge.products.profile.read import layout
from mpigauge.products.profile.read.layout import Counted
from mpigauge.products.profile.read.rank_file import (
    Comm,
    Lost,
    Module,
    RankFile,
    Region,
    ReturnAddress,
    Timeline,
    Type,
    Usage,
)
from mpigauge.products.profile.read.symbols import Place
from mpigauge.runs.store.arrivals import ArrivalPattern, arrival_patterns, save_arrivals
from mpigauge.runs.store.files import failing_as, shown_json, whole, write_whole

FOLDER = "profile"
SCHEMA = 1
OLDER_BYTES = (
    "This profile is of an older mpigauge: bytes of collectives are those of one part, and all "
    "ranks count for those that only the root sends."
)
Places = Mapping[ReturnAddress, tuple[Place, ...]]


@dataclass(frozen=True)
class ProfiledJob:
    """One MPI job in one launch of the program."""

    launch: int
    number: int
    """The number of the job in its launch."""
    profile: Profile
    places: Places
    """The places of frames in the sources; none for unresolved frames."""
    source: str = ""
    """The other profiler that reported the job; empty: mpigauge."""
    remarks: tuple[str, ...] = ()
    """Sentences about the numbers of the job."""

    @property
    def lacks(self) -> str:
        """A sentence about the data that a report of another profiler lacks."""
        return (
            f"a report of {self.source}, which records neither the MPI, cores and "
            "communicators of a program's calls nor the size of each; "
            "`mpigauge profile` records all of them"
        )

    @property
    def is_apart(self) -> bool:
        """True if the launcher started several ranks, and each is alone in MPI_COMM_WORLD."""
        return self.expected == 1 < max(file.launched for file in self.ranks)

    @property
    def ranks(self) -> list[RankFile]:
        """The ranks of MPI_COMM_WORLD, in order."""
        return [file for file in self.profile.files if file.rank is not None]

    @property
    def expected(self) -> int:
        """The number of ranks of MPI_COMM_WORLD."""
        return max((file.ranks for file in self.ranks), default=0)

    @cached_property
    def program(self) -> str:
        """The file name of the program, or of a Python script."""
        for file in self.profile.files:
            if file.words:
                return program_name(file.words) or "the program"
        return "the program"


def program_name(words: Sequence[str]) -> str:
    """Returns the file name of the program in a command line, or of a Python script."""
    names = [Path(word).name for word in words if not word.startswith("-")]
    if not names:
        return ""
    if len(names) > 1 and names[0].startswith("python"):
        return names[1]
    return names[0]


def save(job: ProfiledJob, folder: Path) -> None:
    """Stores a job in a run folder. RunError: it cannot be written."""
    stem = folder / FOLDER / f"launch-{job.launch:03d}-{job.number}"
    with failing_as(RunError, stem.parent):
        stem.parent.mkdir(exist_ok=True)
    numbers = stem.with_suffix(".npz")
    profile = job.profile
    with failing_as(RunError, numbers), whole(numbers) as part, part.open("wb") as file:
        np.savez_compressed(
            file,
            rows=profile.rows,
            cells=profile.cells,
            waits=profile.waits,
            calls=profile.timeline.calls,
            begins=profile.timeline.begins_s,
            steps=np.concatenate([_steps(file) for file in profile.files] or [np.empty(0)]),
            memory=np.concatenate([_memory(file) for file in profile.files] or [np.empty(0)]),
            sent=np.concatenate([_sent(file) for file in profile.files] or [np.empty(0)]),
        )
    save_arrivals(folder, job.launch, job.number, list(_named_arrivals(job)))
    names = stem.with_suffix(".json")
    with failing_as(RunError, names):
        write_whole(names, json.dumps(_names(job), ensure_ascii=False))


def _named_arrivals(job: ProfiledJob) -> Iterator[ArrivalPattern]:
    """Yields the arrival patterns with the names of their places."""
    for pattern in job.profile.arrivals:
        spot = job.profile.spots[pattern.spot]
        yield replace(pattern, region=spot.region, **_innermost(job, spot))


def _innermost(job: ProfiledJob, spot: Spot) -> dict[str, Any]:
    """Returns the innermost place of the program, as the fields of a pattern."""
    frame = next(iter(spot.frames_of_program), None)
    if frame is None or not job.places.get(frame):
        return {}
    place = job.places[frame][0]
    return {"function": place.function, "source_file": place.file, "line": place.line}


def load_jobs(folder: Path) -> tuple[ProfiledJob, ...]:
    """Loads all jobs of a run. UserError: they cannot be read."""
    jobs = [_load(path) for path in (folder / FOLDER).glob("launch-*.json")]
    patterns = arrival_patterns(folder)
    loaded = []
    for job in sorted(jobs, key=lambda each: (each.launch, each.number)):
        own = [each for each in patterns if (each.launch, each.job) == (job.launch, job.number)]
        loaded.append(replace(job, profile=replace(job.profile, arrivals=tuple(own))))
    return tuple(loaded)


def _load(path: Path) -> ProfiledJob:
    numbers = path.with_suffix(".npz")
    try:
        data = json.loads(shown_json(path.read_text(encoding="utf-8")))
        if data["schema"] > SCHEMA:
            raise UserError(f"{path} was written by a newer mpigauge; update mpigauge to read it")
        with np.load(numbers, allow_pickle=False) as kept:
            waits = kept["waits"] if "waits" in kept else np.empty(0, WAIT)  # older runs
            timeline = (
                TimedCalls(kept["calls"], kept["begins"]) if "calls" in kept else TimedCalls()
            )
            steps = kept["steps"]
            memory = kept["memory"] if "memory" in kept else np.zeros(len(steps))  # older runs
            sent = kept["sent"] if "sent" in kept else np.zeros(len(steps))  # older runs
            job = _job(path.stem, data, kept["rows"], _cells(kept["cells"]), (steps, memory, sent))
            if "sends" not in kept["cells"].dtype.names:
                job = replace(job, remarks=(*job.remarks, OLDER_BYTES))
            return replace(job, profile=replace(job.profile, waits=waits, timeline=timeline))
    except OSError as error:
        raise UserError(f"cannot read {error.filename or path}: {error.strerror}") from None
    except (KeyError, TypeError, ValueError, IndexError, EOFError) as error:
        raise UserError(f"{path} or {numbers.name} is damaged: {error}") from None


def _cells(cells: Any) -> Any:
    """Returns cells as merge.CELL; in older runs each rank sends the amount once."""
    if "sends" in cells.dtype.names:
        return cells
    complete = np.zeros(len(cells), CELL)
    for name in cells.dtype.names:
        complete[name] = cells[name]
    complete["sends"] = np.isin(cells["way"], (Counted.NONE, Counted.SENT))
    return complete


# --- to JSON --------------------------------------------------------------------------------------
def _names(job: ProfiledJob) -> dict[str, Any]:
    profile = job.profile
    frames: dict[ReturnAddress, int] = {}
    modules: dict[Module, int] = {}
    for spot in profile.spots:
        for frame in spot.frames:
            frames.setdefault(frame, len(frames))
            if frame.module:
                modules.setdefault(frame.module, len(modules))
    return {
        "schema": SCHEMA,
        "modules": [_module(module) for module in modules],
        "frames": [_frame(frame, modules, job.places.get(frame, ())) for frame in frames],
        "spots": [_spot(spot, frames) for spot in profile.spots],
        "communicators": [_renamed(asdict(comm), "name", "communicator") for comm in profile.comms],
        "types": [_type(each) for each in profile.types],
        "ranks": [_rank(file) for file in profile.files],
        "standings": [asdict(each) for each in profile.standings],
        "deadlock": profile.deadlock,
        **({"source": job.source, "remarks": list(job.remarks)} if job.source else {}),
    }


def _module(module: Module) -> dict[str, Any]:
    python = {"function": module.function} if module.function else {}
    return {"library_file": module.path, "build_id": module.build_id} | python


def _frame(
    frame: ReturnAddress, modules: Mapping[Module, int], places: Sequence[Place]
) -> dict[str, Any]:
    return {
        "module": modules[frame.module] if frame.module else -1,
        "offset": frame.offset,
        "places": [_place(place) for place in places],
    }


def _spot(spot: Spot, frames: Mapping[ReturnAddress, int]) -> dict[str, Any]:
    return {
        "call": spot.call,
        "group": spot.group,
        "region": spot.region,
        "frames": [frames[frame] for frame in spot.frames],
    }


def _type(of: Type) -> dict[str, Any]:
    return {"type_name": of.name, "operation_name": of.operation, "size": of.size}


def _place(place: Place) -> dict[str, Any]:
    return {
        "function": place.function,
        "source_file": place.file,
        "line": place.line,
        "offset": place.offset,
    }


def _rank(file: RankFile) -> dict[str, Any]:
    """Returns a rank without what is stored as numbers, or in the profile."""
    plain = replace(file, sites=(), timelines=(), comms={}, types={}, regions=(), cells=_NO_CELLS)
    fields = {name: value for name, value in vars(plain).items() if name not in _APART}
    return fields | {
        "usage": asdict(file.usage),
        "lost": asdict(file.lost),
        "cpus": [[cpu, node, times] for cpu, (node, times) in file.cpus.items()],
        "regions": [_region(each) for each in file.regions],
        "timelines": [_timeline(each) for each in file.timelines],
        "arguments": masked_words(file.words),
        "program_file": file.executable,
        "mpi_library": file.library,
    }


def _region(region: Region) -> dict[str, Any]:
    return {"region": region.path, "entered": region.entered, "seconds": region.seconds}


def _timeline(line: Timeline) -> dict[str, Any]:
    """Returns a timeline; its steps are stored as numbers, all timelines concatenated."""
    return {
        "thread": line.thread,
        "start_s": line.start_s,
        "step_s": line.step_s,
        "steps": len(line.mpi_s),
    }


_NO_CELLS = np.empty(0, layout.CELL)
_APART = {
    *("instances", "channels", "last_calls"),
    *("sites", "cells", "comms", "types", "regions", "timelines", "usage", "lost", "cpus"),
    *("words", "executable", "library", "mpi_s"),
}
"""The fields of a RankFile that are stored elsewhere or under another name."""


def _steps(file: RankFile) -> Any:
    return np.concatenate([each.mpi_s for each in file.timelines] or [np.empty(0)])


def _memory(file: RankFile) -> Any:
    """Returns the memory in all steps of the timelines; 0: unknown."""
    of_lines = [
        each.memory_bytes if len(each.memory_bytes) else np.zeros(len(each.mpi_s))
        for each in file.timelines
    ]
    return np.concatenate(of_lines or [np.empty(0)])


def _sent(file: RankFile) -> Any:
    """Returns the bytes sent in all steps of the timelines; 0: unknown."""
    of_lines = [
        each.sent_bytes if len(each.sent_bytes) else np.zeros(len(each.mpi_s))
        for each in file.timelines
    ]
    return np.concatenate(of_lines or [np.empty(0)])


def _renamed(data: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if name == old else name: value for name, value in data.items()}


# --- and back -------------------------------------------------------------------------------------
def _job(stem: str, data: Mapping[str, Any], rows: Any, cells: Any, steps: Any) -> ProfiledJob:
    launch, number = stem.removeprefix("launch-").split("-")
    modules = [
        Module(each["library_file"], each["build_id"], each.get("function", ""))
        for each in data["modules"]
    ]
    frames = []
    places = {}
    for frame_data in data["frames"]:
        module = modules[frame_data["module"]] if frame_data["module"] >= 0 else None
        frame = ReturnAddress(module, frame_data["offset"])
        frames.append(frame)
        if frame_data["places"]:
            places[frame] = tuple(_place_of(each) for each in frame_data["places"])
    profile = Profile(
        files=tuple(_files(data["ranks"], steps)),
        spots=tuple(_spot_of(each, frames) for each in data["spots"]),
        rows=rows,
        cells=cells,
        comms=tuple(_comm(each) for each in data["communicators"]),
        types=tuple(_type_of(each) for each in data["types"]),
        standings=tuple(_standing_of(each) for each in data.get("standings", ())),
        deadlock=data.get("deadlock", ""),
    )
    source, remarks = data.get("source", ""), tuple(data.get("remarks", ()))
    return ProfiledJob(int(launch), int(number), profile, places, source, remarks)


def _place_of(data: Mapping[str, Any]) -> Place:
    return Place(data["function"], data["source_file"], data["line"], data["offset"])


def _spot_of(data: Mapping[str, Any], frames: Sequence[ReturnAddress]) -> Spot:
    stack = tuple(frames[number] for number in data["frames"])
    return Spot(data["call"], data["group"], data["region"], stack)


def _standing_of(data: Mapping[str, Any]) -> Standing:
    return Standing(**{**data, "peers": tuple(data["peers"])})


def _type_of(data: Mapping[str, Any]) -> Type:
    return Type(data["type_name"], data["operation_name"], data["size"])


def _comm(data: Mapping[str, Any]) -> Comm:
    fields = _renamed(dict(data), "communicator", "name")
    return Comm(**{**fields, "members": tuple(fields["members"])})


def _files(ranks: Sequence[Mapping[str, Any]], steps: Any) -> list[RankFile]:
    files, at = [], 0
    for each in ranks:
        fields = {name: value for name, value in each.items() if name not in _SAID_ELSEWHERE}
        timelines = []
        for line in each["timelines"]:
            end = at + line["steps"]
            values = (each[at:end] for each in steps)
            timelines.append(Timeline(line["thread"], line["start_s"], line["step_s"], *values))
            at = end
        files.append(
            RankFile(
                **fields,
                words=tuple(each["arguments"]),
                executable=each["program_file"],
                library=each["mpi_library"],
                usage=Usage(**each["usage"]),
                lost=Lost(**each["lost"]),
                cpus={cpu: (node, times) for cpu, node, times in each["cpus"]},
                regions=tuple(_region_of(region) for region in each["regions"]),
                timelines=tuple(timelines),
                comms={},
                types={},
                sites=(),
                cells=_NO_CELLS,
            )
        )
    return files


def _region_of(data: Mapping[str, Any]) -> Region:
    return Region(data["region"], data["entered"], data["seconds"])


_SAID_ELSEWHERE = {
    *("arguments", "program_file", "mpi_library", "usage", "lost", "cpus", "regions", "timelines"),
}

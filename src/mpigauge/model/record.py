# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The lines that rank 0 of a measurement writes, one JSON object each, as typed records."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from mpigauge.model.columns import ABSENT, KEY_COLUMNS, Cell

Key = tuple[str | int | bool, ...]


@dataclass(frozen=True)
class Clock:
    name: str = "unknown"
    hz: float = math.nan
    cost_s: float = math.nan
    step_s: float = math.nan


@dataclass(frozen=True)
class Launch:
    """One start of the MPI job."""

    launch: int
    schema: int
    time: str
    mpi_library: str
    mpi_standard: str
    abi: str
    world_ranks: int
    mode: str
    precision: float
    seed: int
    thread_level: str
    """That the library provided."""
    clock: Clock
    thread_level_asked: str = ""
    """Empty: the lowest that the benchmarks needed."""


@dataclass(frozen=True)
class Rank:
    """Where one rank ran: the cores that were asked for, and those that it got."""

    launch: int
    rank: int
    host: str
    pid: int
    local_rank: int
    wanted_cpuset: str
    cpuset: str
    cpu: int
    numa: int
    init_s: float = math.nan
    """What starting MPI took, as this rank saw it."""
    startup_s: float = math.nan
    """From the start of the process until then; the system counts in steps of 10 ms."""


@dataclass(frozen=True)
class Noise:
    """How much of a core others took while it did nothing but read the clock."""

    launch: int
    rank: int
    when: str
    """before or after what was measured; measured: by NODE:Noise, between the other benchmarks."""
    cpu: int
    seconds: float
    detours: int
    lost_ratio: float
    longest_s: float
    stolen_s: float = 0.0
    """Given to others by the hypervisor meanwhile, as the system counts it."""
    waited_s: float = 0.0
    """In which the rank could have run, but another process had the core."""
    switched_out: int = 0
    start_ns: tuple[int, ...] = ()
    """When the first thousands of detours began, from the first reading of the clock."""
    length_ns: tuple[int, ...] = ()


@dataclass(frozen=True)
class Sampled:
    """What was heard before a launch, of a core in the mean over all ranks, and what the sampling
    made of it."""

    launch: int
    cores: int
    detours_per_s: float
    lost_ratio: float
    detour_s: float
    """Half of them are longer; NaN: there were none."""
    calm_s: float
    """The longest sample on all cores of which 95 % meet none; NaN: any."""
    batch_s: float
    """How long calls that follow each other are joined to a sample."""


@dataclass(frozen=True)
class Chunk:
    """One visit to a cell: which round, what disturbed it, how many samples."""

    round: int
    taint: int
    n: int


@dataclass(frozen=True)
class Raw:
    """All samples of a cell in ticks of the clock: inside the record, or in a file of the run."""

    hz: float
    chunks: tuple[Chunk, ...]
    ticks: str = ""
    """Base64 of little-endian u32: all maxima over ranks, all minima, all means."""
    file: str = ""
    offset: int = 0
    scheme: str = "max,min,avg"

    @property
    def samples(self) -> int:
        return sum(chunk.n for chunk in self.chunks)


@dataclass(frozen=True)
class CellRecord:
    cell: Cell
    raw: Raw | None = None

    @property
    def launch(self) -> int:
        return self.cell.launch


@dataclass(frozen=True)
class Progress:
    """What is known of a cell while it is still measured."""

    launch: int
    key: Mapping[str, Any]
    time_p50_s: float
    ci_low_s: float
    ci_high_s: float
    time_scale: float
    moved_bytes: float
    messages: float
    samples: int
    rounds: int

    def as_cell(self) -> Cell:
        """The cell as far as it got: what remains of a launch that was killed."""
        known = {name: getattr(self, name) for name in _SHARED}
        if self.rounds < _LEAST_FOR_INTERVAL:
            known |= {"ci_low_s": math.nan, "ci_high_s": math.nan}
        words = {"stop": "interrupted", "check": "unchecked", "calls": 1, "chunks": self.rounds}
        return Cell.from_record({**nothing_known(), **self.key, **known, **words})


@dataclass(frozen=True)
class Skip:
    """A cell that was not measured, and why."""

    launch: int
    key: Mapping[str, Any]
    reason: str


JOB = "job"


@dataclass(frozen=True)
class Figure:
    """A number that is no time of a call: a program's own figure of merit, the memory of a rank."""

    launch: int
    benchmark: str
    """What was run; JOB: the job of MPI itself."""
    name: str
    """What the number is: DGEMM, peak RSS."""
    value: float
    unit: str
    better: str
    """higher or lower; empty: neither."""
    ranks: int = 0
    """0: not known."""
    rank: int = -1
    """Of which rank; -1: of all of them together."""
    placement: str = ""
    arm: str = ""
    source: str = ""
    """As in columns of cells."""
    origin: str = "measured"


@dataclass(frozen=True)
class Failure:
    launch: int
    rank: int
    message: str


@dataclass(frozen=True)
class Carried:
    """What carried the messages of a launch."""

    launch: int
    used: str
    """As its MPI told it: tcp between hosts."""


@dataclass(frozen=True)
class End:
    launch: int
    stopped: str
    """done, time or interrupted."""
    seconds: float
    measuring_s: float
    wrong_count: int
    cells: int
    records: int = -1
    """Of this launch before this one, without progress; -1: not said, as once in all runs."""


Record = (
    Launch
    | Rank
    | Noise
    | Sampled
    | CellRecord
    | Figure
    | Progress
    | Skip
    | Failure
    | Carried
    | End
)

_LEAST_FOR_INTERVAL = 6
_SHARED = ("launch", "time_p50_s", "ci_low_s", "ci_high_s", "time_scale", "moved_bytes", "messages",
           "samples", "rounds")  # fmt: skip
_NOTHING: dict[str, Any] = {
    "int": 0, "float": math.nan, "str": "", "bool": False, "tuple[str, ...]": ()
}  # fmt: skip


def nothing_known() -> dict[str, Any]:
    """All columns of a cell of which nothing is known."""
    return {f.name: _NOTHING[str(f.type)] for f in fields(Cell)} | ABSENT


def parse(line: str) -> Record | None:
    """The record in a line of a job's output, or None: other output is not ours to judge."""
    payload = find_payload(line)
    try:
        return decode(payload) if payload else None
    except ValueError:
        return None


def with_known(line: str, known: Mapping[str, str], places: Mapping[str, str]) -> str:
    """The line of a job, with the columns that only the campaign knows where it is about a cell.
    `places` has policies of placement by the ranks of a pair. Other lines are as they were."""
    said = {name: value for name, value in known.items() if value}
    payload = find_payload(line) if said or places else None
    if payload is None:
        return line
    try:
        data = json.loads(payload)
    except ValueError:
        return line
    if data.get("record") not in ("cell", "progress", "skip", "figure"):
        return line
    key = data.get("key", data)
    key.update(said)
    if place := places.get(key.get("members", "")):
        key["placement"] = place
    return json.dumps(data, separators=(",", ":"))


def find_payload(line: str) -> str | None:
    """The JSON object in a line, without what launchers put before it, such as `[0] `."""
    start = line.find('{"record":')
    return line[start:].rstrip() if start >= 0 else None


def decode(payload: str) -> Record:
    """The record in one JSON object; ValueError says what is wrong with it."""
    try:
        data = json.loads(payload)
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None
    kind = data.get("record") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError("it is no record that this version knows")
    return from_json(data)


def encode(record: Launch | CellRecord | Figure | Skip | End) -> str:
    """The line of a record that no kernel wrote; without the samples of a cell."""
    of = record.cell if isinstance(record, CellRecord) else record
    kind = next(word for word, known in _WRITTEN.items() if isinstance(of, known))
    known = asdict(of) if isinstance(of, Launch) else vars(of)
    return json.dumps({"record": kind} | _plain_values(known), separators=(",", ":"))


def from_json(data: Mapping[str, Any]) -> Record:
    try:
        record: Record = _KINDS[data["record"]](data)
        return record
    except KeyError as error:
        raise ValueError(f"the {data.get('record')} record has no {error}") from None
    except (AttributeError, OverflowError, TypeError) as error:
        raise ValueError(f"the {data.get('record')} record: {error}") from None


def key_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that tell one cell from another, those that are there."""
    return {name: data[name] for name in KEY_COLUMNS if name in data}


def _launch(data: Mapping[str, Any]) -> Launch:
    library = ("mpi_library", "mpi_standard", "abi", "thread_level", "thread_level_asked")
    clock = data.get("clock", {})
    return Launch(
        launch=int(data["launch"]),
        schema=int(data["schema"]),
        world_ranks=int(data["world_ranks"]),
        precision=_real(data.get("precision")),
        seed=int(data.get("seed", 0)),
        clock=Clock(
            str(clock.get("name", "unknown")),
            *(_real(clock.get(name)) for name in ("hz", "cost_s", "step_s")),
        ),
        **{name: str(data.get(name, "")) for name in ("time", "mode", *library)},
    )


def _cell(data: Mapping[str, Any]) -> CellRecord:
    return CellRecord(Cell.from_record(data), _raw(data["raw"]) if data.get("raw") else None)


def _raw(data: Mapping[str, Any]) -> Raw:
    chunks = tuple(Chunk(int(c["round"]), int(c["taint"]), int(c["n"])) for c in data["chunks"])
    return Raw(
        hz=float(data["hz"]),
        chunks=chunks,
        ticks=str(data.get("ticks", "")),
        file=str(data.get("file", "")),
        offset=int(data.get("offset", 0)),
        scheme=str(data.get("scheme", "max,min,avg")),
    )


def _progress(data: Mapping[str, Any]) -> Progress:
    reals = ("time_p50_s", "ci_low_s", "ci_high_s", "time_scale", "moved_bytes", "messages")
    return Progress(
        launch=int(data["launch"]),
        key=key_of(data.get("key", data)),
        samples=int(data["samples"]),
        rounds=int(data["rounds"]),
        **{name: _real(data[name]) for name in reals},
    )


def _skip(data: Mapping[str, Any]) -> Skip:
    key = key_of(data.get("key", data))
    return Skip(int(data["launch"]), key, str(data["reason"]))


def _plain(kind: type[Any]) -> Callable[[Mapping[str, Any]], Any]:
    """Reads a record whose keys are the fields of a dataclass; what has a default may be absent."""
    readers: dict[str, Callable[[Any], Any]] = {
        "int": int, "float": _real, "str": str, "tuple[int, ...]": _integers
    }  # fmt: skip
    plan = [(f.name, readers[str(f.type)], f.default is not MISSING) for f in fields(kind)]
    return lambda data: kind(
        **{name: read(data[name]) for name, read, can_lack in plan if name in data or not can_lack}
    )


def _plain_values(data: Mapping[str, Any]) -> dict[str, Any]:
    """What is not known is null, not NaN, which JSON has not."""
    return {
        name: value if type(value) in _AS_THEY_ARE else _plain_value(value)
        for name, value in data.items()
    }


def _plain_value(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _plain_values(value) if isinstance(value, Mapping) else value


def _integers(values: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _real(value: Any) -> float:
    return math.nan if value is None else float(value)


_AS_THEY_ARE = frozenset((str, int, bool))
"""Most of a cell's many values."""
_KINDS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "launch": _launch,
    "rank": _plain(Rank),
    "noise": _plain(Noise),
    "sampling": _plain(Sampled),
    "progress": _progress,
    "cell": _cell,
    "skip": _skip,
    "figure": _plain(Figure),
    "error": _plain(Failure),
    "transport": _plain(Carried),
    "end": _plain(End),
}
_WRITTEN: dict[str, type[Any]] = {
    "launch": Launch, "cell": Cell, "figure": Figure, "skip": Skip, "end": End
}  # fmt: skip

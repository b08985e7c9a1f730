# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The JSON lines that rank 0 of a measurement writes, as typed records."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from mpigauge.model import placement_words, records
from mpigauge.model.columns import ABSENT, KEY_COLUMNS, Cell
from mpigauge.model.cpu_lists import parse_list
from mpigauge.model.data_memory import KINDS, translated
from mpigauge.model.former_names import FORMER, FORMER_SUITE, present_names
from mpigauge.model.records import (
    CallSite,
    Carried,
    Chunk,
    Clock,
    End,
    Failure,
    Figure,
    Gpu,
    GpuState,
    Launch,
    Matching,
    Noise,
    PairBlock,
    Progress,
    Rank,
    Raw,
    Sampled,
    Skip,
)

__all__ = (
    "JOB", "CallSite", "Carried", "CellRecord", "Chunk", "Clock", "End", "Failure", "Figure", "Gpu",
    "GpuState", "Key", "Launch", "Matching", "Noise", "PairBlock", "Progress", "Rank", "Raw",
    "Record", "Sampled", "Skip", "decode", "encode", "find_payload", "from_json", "in_vocabulary",
    "known_of_killed", "nothing_known", "parse", "samples_of", "with_known",
)  # fmt: skip

Key = tuple[str | int | bool, ...]


@dataclass(frozen=True)
class CellRecord:
    cell: Cell
    raw: Raw | None = None

    @property
    def launch(self) -> int:
        return self.cell.launch


JOB = "job"
"""The benchmark name of figures that belong to the MPI job as a whole."""

Record = (
    Launch
    | Rank
    | Noise
    | Sampled
    | GpuState
    | CellRecord
    | PairBlock
    | Matching
    | Figure
    | CallSite
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
    """All columns of a cell, with empty values."""
    return {f.name: _NOTHING[str(f.type)] for f in fields(Cell)} | ABSENT


def known_of_killed(progress: Progress) -> Cell:
    """The cell of a killed launch, as far as it was measured."""
    values = {name: getattr(progress, name) for name in _SHARED}
    if progress.rounds < _LEAST_FOR_INTERVAL:
        values |= {"ci_low_s": math.nan, "ci_high_s": math.nan}
    words = {"stop": "interrupted", "check": "unchecked", "calls": 1, "chunks": progress.rounds}
    return Cell.from_record({**nothing_known(), **progress.key, **values, **words})


def samples_of(raw: Raw) -> int:
    """The number of samples."""
    return sum(chunk.n for chunk in raw.chunks)


def parse(line: str) -> Record | None:
    """The record in a line of a job's output, or None for any other output."""
    payload = find_payload(line)
    try:
        if payload:
            return decode(payload)
        return None
    except ValueError:
        return None


def with_known(line: str, columns: Mapping[str, str], places: Mapping[str, str]) -> str:
    """The line of a job; if it is about a cell, with the columns that only the campaign has.
    `places` maps ranks of a pair to placement policies. Other lines are unchanged."""
    values = {name: value for name, value in columns.items() if value}
    payload = find_payload(line) if values or places else None
    if payload is None:
        return line
    try:
        data = json.loads(payload)
    except ValueError:
        return line
    if data.get("record") not in ("cell", "pairs", "progress", "skip", "figure", "matching"):
        return line
    key = data.get("key", data)
    key.update(values)
    if place := places.get(key.get("members", "")):
        key["placement"] = place
    if data["record"] == "pairs" and places:
        ranks = data.get("pairs", ())
        pairs = (f"{a},{b}" for a, b in zip(ranks[::2], ranks[1::2], strict=True))
        usual = values.get("placement", "")
        data["columns"]["placement"] = [places.get(pair, usual) for pair in pairs]
    return json.dumps(data, separators=(",", ":"))


def find_payload(line: str) -> str | None:
    """The JSON object in a line, without a prefix of the launcher such as `[0] `; None: there is
    none."""
    start = line.find('{"record":')
    if start < 0:
        return None
    return line[start:].rstrip()


def decode(payload: str) -> Record:
    """The record in one JSON object. ValueError: it is not a valid record."""
    try:
        data = json.loads(payload)
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None
    if isinstance(data, dict):
        kind = data.get("record")
        if isinstance(kind, str) and kind in _KINDS:
            return from_json(data)
    raise ValueError("this version has no such record")


def encode(record: Launch | Rank | CellRecord | Figure | CallSite | Skip | End) -> str:
    """The line of a record that no kernel wrote; a cell is written without its samples."""
    if isinstance(record, CellRecord):
        return _line_of("cell", vars(record.cell))
    kind = _WRITTEN[type(record)]
    if isinstance(record, (Launch, Rank)):
        return _line_of(kind, asdict(record))
    return _line_of(kind, vars(record))


def _line_of(kind: str, values: Mapping[str, Any]) -> str:
    return json.dumps({"record": kind} | _plain_values(values), separators=(",", ":"))


def from_json(data: Mapping[str, Any]) -> Record:
    try:
        record: Record = _KINDS[data["record"]](data)
        return record
    except KeyError as error:
        raise ValueError(f"the {data.get('record')} record has no {error}") from None
    except (AttributeError, OverflowError, TypeError) as error:
        raise ValueError(f"the {data.get('record')} record: {error}") from None


def key_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """The key columns that the data has."""
    columns = in_vocabulary(data)
    return {name: columns[name] for name in KEY_COLUMNS if name in columns}


def in_vocabulary(columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the columns with benchmark, memory and placement in our words: older records and
    imports have other words."""
    if columns.get("suite") == FORMER_SUITE and columns.get("benchmark") in FORMER:
        suite, benchmark = present_names(columns["suite"], columns["benchmark"])
        columns = {**columns, "suite": suite, "benchmark": benchmark}
    source, memory, placement = map(columns.get, ("source", "memory", "placement"))
    if source and isinstance(memory, str) and memory not in KINDS:
        columns = {**columns, "memory": translated(memory)}
    if placement and isinstance(placement, str):
        ours = placement_words.of_stored(placement, columns.get("ranks", 0), source or "")
        if ours != placement:
            columns = {**columns, "placement": ours}
    return columns


def _cell(data: Mapping[str, Any]) -> CellRecord:
    cell = Cell.from_record(in_vocabulary(data))
    if data.get("raw"):
        return CellRecord(cell, _raw(data["raw"]))
    return CellRecord(cell)


def _figure(data: Mapping[str, Any]) -> Figure:
    figure: Figure = _reader_of(Figure)(in_vocabulary(data))
    return figure


def _rank(data: Mapping[str, Any]) -> Rank:
    """The record of a rank. ValueError: its cores, from which its place is computed, are not a
    list."""
    rank: Rank = _reader_of(Rank)(data)
    for name, text in (("cpuset", rank.cpuset), ("wanted_cpuset", rank.wanted_cpuset)):
        try:
            parse_list(text)
        except ValueError as error:
            raise ValueError(f"{name} of rank {rank.rank}: {error}") from None
    return rank


def _reader_of(kind: type[Any]) -> Callable[[Mapping[str, Any]], Any]:
    """A reader of objects whose keys are the fields of this dataclass; keys of fields with a
    default may be absent."""
    readers: list[tuple[str, Callable[[Any], Any], bool]] = []
    for field in fields(kind):
        optional = field.default is not MISSING or field.default_factory is not MISSING
        readers.append((field.name, _value_reader(str(field.type)), optional))

    def read(data: Mapping[str, Any]) -> Any:
        values: dict[str, Any] = {}
        for name, read_value, may_be_absent in readers:
            if name in data or not may_be_absent:
                values[name] = read_value(data[name])
        return kind(**values)

    if "key" not in kind.__dataclass_fields__:
        return read
    # Older lines have the columns of the key among their own.
    return lambda data: read({**data, "key": key_of(data.get("key", data))})


def _value_reader(type_name: str) -> Callable[[Any], Any]:
    if type_name in _VALUES:
        return _VALUES[type_name]
    if type_name in records.PARTS:
        return _reader_of(records.PARTS[type_name])
    read = _value_reader(type_name.removeprefix("tuple[").removesuffix(", ...]"))
    return lambda values: tuple(map(read, values))


def _plain_values(data: Mapping[str, Any]) -> dict[str, Any]:
    """The values with None instead of NaN, which JSON does not have."""
    plain = dict(data)
    for name, value in data.items():
        if type(value) not in _AS_THEY_ARE:
            plain[name] = _plain_value(value)
    return plain


def _plain_value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return _plain_values(value)
    return value


def _real(value: Any) -> float:
    if value is None:
        return math.nan
    return float(value)


_AS_THEY_ARE = frozenset((str, int, bool))
"""The types of most of a cell's many values."""
_VALUES: dict[str, Callable[[Any], Any]] = {
    "int": int, "float": _real, "str": str, "bool": bool, "Mapping[str, Any]": dict
}  # fmt: skip
"""Readers of a value by the type of its field."""
_raw = _reader_of(Raw)
_KINDS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    **{kind: _reader_of(of) for kind, of in records.KINDS.items()}, "cell": _cell,
    "figure": _figure, "rank": _rank,
}  # fmt: skip
_WRITTEN: dict[type[Any], str] = {
    Launch: "launch", Rank: "rank", Figure: "figure", CallSite: "call_site", Skip: "skip",
    End: "end",
}  # fmt: skip

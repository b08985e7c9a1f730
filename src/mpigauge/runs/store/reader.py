# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads run folders, including those of killed runs: damaged parts are reported and left out."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from mpigauge.model.between import Between
from mpigauge.model.cards import Cards
from mpigauge.model.errors import UserError
from mpigauge.model.pair_block import cells_of, spread
from mpigauge.model.record import (
    JOB,
    Carried,
    CellRecord,
    End,
    Failure,
    Figure,
    Launch,
    Matching,
    Noise,
    PairBlock,
    Progress,
    Rank,
    Skip,
    decode,
    known_of_killed,
    samples_of,
)
from mpigauge.model.transport import BETWEEN, WITHIN
from mpigauge.model.typed import as_word
from mpigauge.runs.store.files import HISTORY, SCHEMA, shown_json
from mpigauge.runs.store.header import in_our_words, is_plan, with_numbers, with_tables

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Raw, Record

_T = TypeVar("_T")
_ARRAYS = 3
_WORD_BYTES = 4


@dataclass(frozen=True)
class Run:
    path: Path
    header: Mapping[str, Any]
    """run.json: schema, version, created, command, plan, mpi."""
    passport: Mapping[str, Any]
    cards: Cards
    status: Mapping[str, Any]
    """status.json; empty if the run is in progress or was killed."""
    records: tuple[Record, ...]
    """Records in the order of the file, then the remains of launches without an end."""
    damaged: tuple[str, ...] = ()
    """A sentence for each unreadable line, and for each incomplete launch."""
    broken: frozenset[int] = frozenset()
    """Finished launches some of whose records cannot be read."""
    between: Between | None = None
    """The scatter over earlier runs and the correlation of its launches; None: not stored."""
    part: str = ""
    """A description of the part, if this is only part of a large run; empty: it is all."""

    def of(self, kind: type[_T]) -> list[_T]:
        return [record for record in self.records if isinstance(record, kind)]

    @property
    def plan(self) -> Mapping[str, Any]:
        """The plan of the run; empty if it is damaged."""
        plan = self.header.get("plan")
        if is_plan(plan):
            return plan
        return {}

    @property
    def launches(self) -> list[Launch]:
        return self.of(Launch)

    @property
    def cells(self) -> list[Cell]:
        return [record.cell for record in self.of(CellRecord)]

    @property
    def has_numbers(self) -> bool:
        """True if anything was measured besides figures that every job has, such as its memory."""
        return any(
            isinstance(record, (CellRecord, Matching))
            or (isinstance(record, Figure) and record.benchmark != JOB)
            for record in self.records
        )

    @property
    def skips(self) -> list[Skip]:
        return self.of(Skip)

    @property
    def noise(self) -> list[Noise]:
        return self.of(Noise)

    @property
    def ranks(self) -> list[Rank]:
        return self.of(Rank)

    @property
    def failures(self) -> list[Failure]:
        return self.of(Failure)

    @property
    def used(self) -> str:
        """The transport that the MPI reported; empty: it reported none, or launches contradict each
        other."""
        return _together(record.used for record in self.of(Carried))

    @property
    def ends(self) -> list[End]:
        return self.of(End)

    @property
    def complete(self) -> frozenset[int]:
        """Launches that measured everything they were to, or used all of their time."""
        return _ended(self.records) - self.broken

    def ticks(self, raw: Raw) -> NDArray[np.uint32]:
        """The stored samples of a cell: rows slowest, fastest and mean rank."""
        import numpy as np

        path = self.path / raw.file
        count = _ARRAYS * samples_of(raw)
        words = np.fromfile(path, dtype="<u4", count=count, offset=raw.offset)
        if len(words) < count:
            raise UserError(f"{path} ends before the samples at byte {raw.offset} do")
        return words.reshape(_ARRAYS, samples_of(raw))


@dataclass(frozen=True)
class Summary:
    """A line of `mpigauge runs`."""

    path: Path
    created: str
    status: str
    command: tuple[str, ...]
    mpi: str


@dataclass
class _Lines:
    """The records of a file, and a sentence for each damaged line."""

    stored: list[Record] = field(default_factory=list)
    """The record of each line."""
    records: list[Record] = field(default_factory=list)
    """The same, with the cells of each block of pairs instead of the block."""
    damaged: list[str] = field(default_factory=list)


def load(
    path: Path, cards: bool = True, lines: Mapping[int, Sequence[int] | None] | None = None
) -> Run:
    """The run in this folder, complete or not; without `cards` these may be damaged. `lines`: the
    numbers of the lines to be read, ascending from 0, empty lines not counted, each with the places
    of the wanted pairs if it is a block of them; then the remains of killed launches are left
    out."""
    header = check_schema(path)
    content = _read_lines(path / "records.jsonl", lines)
    remains = _remains(path, content.records) if lines is None else []
    lost = _lost(content.stored) if lines is None else {}
    passport, status = path / "passport.json", path / "status.json"
    between, spoilt = between_of(path)
    return Run(
        path=path,
        header=in_our_words(with_tables(header)),
        passport=with_numbers(_read_object(passport)),
        cards=Cards.load(path / "cards.json") if cards else Cards(()),
        status=_read_object(status),
        records=(*content.records, *remains),
        damaged=(
            *content.damaged,
            *_broken_words(path, lost),
            *_damaged(passport, status),
            *spoilt,
        ),
        broken=frozenset(lost),
        between=between,
    )


def run_folders(root: Path) -> dict[str, Path]:
    """The run folders directly below a folder, by name. Other folders are skipped, and so are
    hidden ones, which are unfinished."""
    try:
        names = sorted(os.listdir(root))  # noqa: PTH208
    except FileNotFoundError:
        raise UserError(f"there is no folder {root}") from None
    except OSError as error:
        raise UserError(f"cannot read {root}: {error.strerror}") from None
    shown = {name: root / name for name in names if not name.startswith(".")}
    return {name: path for name, path in shown.items() if os.path.exists(path / "run.json")}  # noqa: PTH110


def list_runs(root: Path) -> list[Summary]:
    """The runs in a folder, oldest first; runs with a damaged run.json are left out."""
    summaries = [_summary(path) for path in run_folders(root).values()]
    return sorted(
        (each for each in summaries if each), key=lambda run: (run.created, run.path.name)
    )


def check_schema(path: Path) -> Mapping[str, Any]:
    """The run.json of a folder. UserError: this version cannot read it."""
    if not (path / "run.json").is_file():
        what = "is not a run folder: it has no run.json" if path.is_dir() else "does not exist"
        raise UserError(f"{path} {what}")
    header = _read_object(path / "run.json")
    schema = header.get("schema")
    if not isinstance(schema, int):
        raise UserError(f"{path / 'run.json'} is damaged: it names no schema")
    if schema > SCHEMA:
        raise UserError(
            f"{path} was written by a newer mpigauge (schema {schema}; this one reads up to "
            f"{SCHEMA}); update mpigauge to read it"
        )
    return header


def status_of(path: Path) -> Mapping[str, Any]:
    """The status.json of a run; empty if the run is in progress or was killed."""
    return _read_object(path / "status.json")


def passport_of(path: Path) -> Mapping[str, Any]:
    """The passport.json of a run; empty: no GPU."""
    return _read_object(path / "passport.json")


def complete_launches(path: Path) -> frozenset[int]:
    records = _read_lines(path / "records.jsonl").stored
    return _ended(records) - frozenset(_lost(records))


def _ended(records: Iterable[Record]) -> frozenset[int]:
    """The launches whose ends report that they did everything, or used their time."""
    ends = (record for record in records if isinstance(record, End))
    return frozenset(end.launch for end in ends if end.stopped in ("done", "time"))


def _lost(records: Iterable[Record]) -> dict[int, tuple[int, int]]:
    """The numbers of lost records and of all records, of each launch whose end counts more records
    than can be read. A launch that was measured again is judged by its last end."""
    read: Counter[int] = Counter()
    lost: dict[int, tuple[int, int]] = {}
    for record in records:
        launch = record.launch
        if isinstance(record, Launch):
            read[launch] = 0
        if isinstance(record, End):
            missing = record.records - read[launch]
            lost.pop(launch, None)
            if missing > 0:
                lost[launch] = (missing, record.records)
        read[launch] += _is_counted(record)
    return lost


def _is_counted(record: Record) -> bool:
    """True for a record that the end of a launch counts: not progress, nor records of the
    campaign."""
    added = isinstance(record, Failure) and record.rank < 0
    return not added and not isinstance(record, (Progress, Carried))


def _broken_words(path: Path, lost: Mapping[int, tuple[int, int]]) -> Iterator[str]:
    for launch, (missing, of) in lost.items():
        are = "is" if missing == 1 else "are"
        yield (
            f"launch {launch} is not whole: {missing} of its {of} records {are} damaged or "
            f"missing; `mpigauge resume {as_word(path)}` measures it again"
        )


def _together(reports: Iterable[str]) -> str:
    """The common report of all launches. Launches on one host and between hosts report one each."""
    texts = list(dict.fromkeys(reports))
    if len(texts) < 2:
        return "".join(texts)
    pieces = dict.fromkeys(piece for text in texts for piece in text.split(", "))
    ways = [(piece, where) for where in (WITHIN, BETWEEN) for piece in pieces if where in piece]
    agree = len(pieces) == len(ways) == len({where for _, where in ways})
    if agree:
        return ", ".join(piece for piece, _ in ways)
    return ""


def _read_object(path: Path) -> Mapping[str, Any]:
    """The object in a JSON file, with control characters replaced except in its plan, which is to
    be executed; empty if there is no such file, or it is damaged."""
    try:
        text = path.read_text(encoding="utf-8")
        shown = shown_json(text)
        data = json.loads(shown)
        whole = data if shown == text else json.loads(text)
    except (OSError, ValueError, RecursionError):
        return {}
    if isinstance(data, dict):
        return data | {name: whole[name] for name in ("plan",) if name in whole}
    return {}


def between_of(folder: Path) -> tuple[Between | None, list[str]]:
    """The history.json of a run, and a sentence if it is damaged."""
    path = folder / HISTORY
    if not path.exists():
        return None, []
    try:
        return Between.from_json(_read_object(path)), []
    except ValueError:
        return None, [f"{path} is damaged and left out"]


def _damaged(*files: Path) -> Iterator[str]:
    """A sentence for each existing file that does not hold an object."""
    for path in files:
        if path.exists() and not _read_object(path):
            yield f"{path} is damaged and left out"


def _read_lines(path: Path, chosen: Mapping[int, Sequence[int] | None] | None = None) -> _Lines:
    lines = _Lines()
    for number, text, places in _numbered(path) if chosen is None else _some(path, chosen):
        try:
            record = decode(shown_json(text) if "\\" in text else text)
            if places is not None and isinstance(record, PairBlock):
                lines.records += cells_of(record, places)
            else:
                lines.records += spread([record])
            lines.stored.append(record)
        except ValueError as error:
            reason = "it is not whole" if isinstance(error, json.JSONDecodeError) else error
            lines.damaged.append(f"line {number} of {path} is left out: {reason}")
    return lines


def _numbered(path: Path) -> Iterator[tuple[int, str, None]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    yield from ((i, line, None) for i, line in enumerate(text.split("\n"), 1) if line.strip())


def _some(
    path: Path, chosen: Mapping[int, Sequence[int] | None]
) -> Iterator[tuple[int, str, Sequence[int] | None]]:
    """The lines with these numbers, of a file too large to hold in memory."""
    left = iter(chosen)
    following = next(left, None)
    with path.open("rb") as file:
        filled = (numbered for numbered in enumerate(file, 1) if not numbered[1].isspace())
        for place, (number, line) in enumerate(filled):
            if place == following:
                yield number, line.decode("utf-8", errors="replace"), chosen[place]
                following = next(left, None)


def _remains(path: Path, records: Iterable[Record]) -> list[CellRecord]:
    """The last progress of each cell that a killed launch had begun and not recorded."""
    keys = {(r.cell.launch, r.cell.key) for r in records if isinstance(r, CellRecord)}
    ended = {record.launch for record in records if isinstance(record, End)}
    latest: dict[Hashable, CellRecord] = {}
    for file in sorted((path / "progress").glob("launch-*.jsonl")):
        for record in _read_lines(file).records:
            if isinstance(record, Progress) and record.launch not in ended:
                cell = known_of_killed(record)
                latest[cell.launch, cell.key] = CellRecord(cell)
    left = [record for key, record in latest.items() if key not in keys]
    return sorted(left, key=lambda record: (record.launch, record.cell.message_bytes))


def _summary(path: Path) -> Summary | None:
    header = _read_object(path / "run.json")
    if not header:
        return None
    status = status_of(path).get("status", "unfinished")
    mpi = header.get("mpi") or {}
    named = f"{mpi.get('name', '')} {mpi.get('version', '')}" if isinstance(mpi, dict) else str(mpi)
    command = header.get("command") or ()
    words = command.split() if isinstance(command, str) else map(str, command)
    created = str(header.get("created", ""))
    return Summary(path, created, str(status), tuple(words), named.strip())

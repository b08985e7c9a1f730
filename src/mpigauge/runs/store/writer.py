# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes a run folder while it is measured: written data persists, whatever happens next."""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import shutil
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.model.errors import RunError, UserError
from mpigauge.model.outputs import check_empty
from mpigauge.model.pair_block import check
from mpigauge.model.record import (
    CellRecord,
    End,
    PairBlock,
    Progress,
    decode,
    encode,
    find_payload,
)
from mpigauge.model.secrets import as_typed, masked_words
from mpigauge.model.typed import as_word
from mpigauge.runs.store.files import (
    HISTORY,
    OWN,
    SCHEMA,
    append_whole,
    failing_as,
    launch_file,
    now,
    to_json,
    write_whole,
)
from mpigauge.runs.store.reader import check_schema, complete_launches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import IO

    from typing_extensions import Self

    from mpigauge.model.between import Between
    from mpigauge.model.cards import Card
    from mpigauge.model.record import Figure, Launch, Rank, Record, Skip

DEFAULT_ROOT = Path("mpigauge-runs")


def word_for(path: Path) -> str:
    """Returns the shortest word for the run in this folder that commands take."""
    return as_word(path.name if path.parent == DEFAULT_ROOT else path)


_WORD_BYTES = 4
_ARRAYS = 3
_AT_ONCE = 1000
_NO_SAMPLES: dict[str, Any] = {"hz": None, "chunks": []}


class RunWriter:
    """The writer of one run. Only one process at a time may write into a folder."""

    def __init__(self, folder: Path, complete: frozenset[int] = frozenset()) -> None:
        self.folder = folder
        self.complete = complete
        """Launches that an earlier process completed, if a run is resumed."""
        self.kept: Sequence[Path] = (folder,)
        """Folders that stay if the run is discarded."""
        self._lock = _lock(folder)

    @classmethod
    def create(
        cls,
        header: Mapping[str, Any],
        cards: str,
        *,
        output: Path | None = None,
        label: str = "run",
        root: Path = DEFAULT_ROOT,
    ) -> Self:
        """Creates a folder with run.json and cards.json: `output`, or a new name below `root`.

        `header` holds the contents of run.json besides schema and creation time: version, command,
        plan, mpi. Every failure is a UserError: nothing is launched then.
        """
        kept = [path for path in (output, root) if path and path.exists()]
        folder = _claim(output) if output else _new_below(root, label)
        head = {"schema": SCHEMA, "created": now()} | dict(header)
        _take(folder)
        try:
            with failing_as(UserError, folder):
                for kind in ("progress", "logs"):
                    (folder / kind).mkdir()
                write_whole(folder / "cards.json", cards)
                write_whole(folder / "run.json", to_json(head))
            writer = cls(folder)
            writer.kept = kept
            return writer
        except BaseException:
            remove_run(folder, kept)
            raise

    @classmethod
    def resume(cls, folder: Path) -> Self:
        """Opens the folder of an incomplete run."""
        check_schema(folder)
        writer = cls(folder, complete_launches(folder))
        records = folder / "records.jsonl"
        with failing_as(UserError, records):
            (folder / "status.json").unlink(missing_ok=True)
            if records.exists() and not records.read_bytes().endswith(b"\n"):
                append_whole(records, b"\n")  # what a killed process left of its last line
        return writer

    def add_cards(self, cards: Iterable[Card]) -> None:
        """Adds cards of benchmarks that the run's programs turn out to have, each once."""
        path = self.folder / "cards.json"
        with failing_as(RunError, path):
            data = json.loads(path.read_text(encoding="utf-8"))
            names = {(card["suite"], card["name"]) for card in data["benchmarks"]}
            new = []
            for card in cards:
                if (card.suite, card.name) not in names:
                    new.append(asdict(card))
            if new:
                data["benchmarks"] += new
                write_whole(path, json.dumps(data, ensure_ascii=False))

    def amend(self, header: Mapping[str, Any]) -> None:
        """Adds facts to run.json that were unknown when the run began."""
        path = self.folder / "run.json"
        with failing_as(RunError, path):
            head = json.loads(path.read_text(encoding="utf-8"))
            write_whole(path, to_json(head | dict(header)))

    def write_passport(self, passport: Mapping[str, Any]) -> None:
        with failing_as(RunError, self.folder / "passport.json"):
            write_whole(self.folder / "passport.json", to_json(passport))

    def write_between(self, between: Between) -> None:
        """Stores the scatter over earlier runs, so that the run is shown the same from now on."""
        with failing_as(RunError, self.folder / HISTORY):
            write_whole(self.folder / HISTORY, to_json(between.to_json()))

    def write_command(
        self,
        launch: int,
        words: Sequence[str],
        env: Mapping[str, str],
        files: Mapping[str, str] | None = None,
    ) -> None:
        """Stores the command of a launch in shell syntax, without values that look secret, in a
        file only its owner may read. env: variables that it sets; files: texts that it needs, by
        their paths."""
        for name, text in (files or {}).items():
            with failing_as(RunError, Path(name)):
                write_whole(Path(name), text)
        text = " \\\n  ".join([*as_typed(env), shlex.join(masked_words(words))])
        path = launch_file(self.folder, "logs", launch, "command")
        with failing_as(RunError, path):
            append_whole(path, os.fsencode(f"{text}\n"), OWN)

    def append(self, line: str) -> Record | None:
        """Stores a line of a job's output if it is a record, and returns that."""
        payload = find_payload(line)
        if payload is None:
            return None
        try:
            record = decode(payload)
            if isinstance(record, PairBlock):
                check(record)
        except ValueError:
            return None
        self._store(record, payload)
        return record

    def append_records(
        self, records: Iterable[Launch | Rank | CellRecord | Figure | Skip | End]
    ) -> None:
        """Stores records that no job prints, many at a time; cells without samples."""
        path = self.folder / "records.jsonl"
        lines = map(encode, records)
        with failing_as(RunError, path):
            while block := list(islice(lines, _AT_ONCE)):
                append_whole(path, ("\n".join(block) + "\n").encode())

    def log(self, launch: int, stream: str, text: str) -> None:
        """Stores output of a launch that is not a record; stream: stdout or stderr."""
        path = launch_file(self.folder, "logs", launch, stream)
        with failing_as(RunError, path):
            append_whole(path, text.encode("utf-8", "replace"))

    def finish(self, status: str, **facts: Any) -> None:
        """Stores how the run ended: done, interrupted or failed."""
        path = self.folder / "status.json"
        with failing_as(RunError, path):
            write_whole(path, to_json({"status": status, "ended": now()} | facts))

    def discard(self) -> None:
        """Removes the run, if nothing was launched."""
        self.close()
        remove_run(self.folder, self.kept)

    def close(self) -> None:
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _store(self, record: Record, payload: str) -> None:
        path = self.folder / "records.jsonl"
        if isinstance(record, Progress):
            path = launch_file(self.folder, "progress", record.launch, "jsonl")
        elif isinstance(record, (CellRecord, PairBlock)) and record.raw:
            payload = self._move_samples(record.launch, payload)
        with failing_as(RunError, path):
            append_whole(path, payload.encode() + b"\n")
        if isinstance(record, End):
            launch_file(self.folder, "progress", record.launch, "jsonl").unlink(missing_ok=True)

    def _move_samples(self, launch: int, payload: str) -> str:
        """The record with its samples moved to a file of their own, as far as they are
        complete."""
        data = json.loads(payload)
        raw = data.pop("raw")
        if isinstance(raw, list):
            data["raw"] = [self._moved(launch, each) or _NO_SAMPLES for each in raw]
        elif moved := self._moved(launch, raw):
            data["raw"] = moved
        return json.dumps(data, separators=(",", ":"))

    def _moved(self, launch: int, raw: dict[str, Any]) -> Mapping[str, Any] | None:
        """The samples moved to their file; None: they are not complete."""
        samples = base64.b64decode(raw.pop("ticks", ""))
        count = sum(chunk["n"] for chunk in raw["chunks"])
        if not samples or len(samples) != _ARRAYS * _WORD_BYTES * count:
            return None
        path = launch_file(self.folder, "samples", launch, "bin")
        with failing_as(RunError, path):
            offset = append_whole(path, samples)
        return raw | {
            "file": str(path.relative_to(self.folder)),
            "offset": offset,
            "samples": count,
        }


def remove_run(folder: Path, kept: Sequence[Path] = ()) -> None:
    """Removes a run: its folder unless it is to be kept, and the root if that becomes empty."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in (folder, folder.parent):
        if path in (folder, DEFAULT_ROOT) and path not in kept:
            with suppress(OSError):  # the root holds other runs
                path.rmdir()


def _claim(folder: Path) -> Path:
    """The folder, newly created or already empty."""
    try:
        folder.mkdir()
    except FileExistsError:
        _refuse_used(folder)
    except FileNotFoundError:
        there = "nothing can be made in" if folder.parent.exists() else "there is no folder"
        raise UserError(f"cannot make {folder}: {there} {folder.parent}") from None
    except OSError as error:
        raise UserError(f"cannot make {folder}: {error.strerror}") from None
    return folder


def _refuse_used(folder: Path) -> None:
    if not folder.is_dir():
        raise UserError(f"{folder} is a file; --output names a new folder")
    check_empty(folder)


def _take(folder: Path) -> None:
    """Reserves an empty folder. If several jobs see it empty, only one can create a folder in it,
    even on NFS and Lustre, and nothing is left behind that is not part of the run."""
    try:
        (folder / "samples").mkdir()
    except FileExistsError:
        raise UserError(f"another run has just taken {folder}; name a new folder") from None
    except OSError as error:
        raise UserError(f"cannot write into {folder}: {error.strerror}") from None


def _new_below(root: Path, label: str) -> Path:
    """Creates a folder with a unique name, even if many jobs start in the same second."""
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    name = f"{stamp}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', label)[:60]}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        for number in range(1, 10_000):
            folder = root / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise UserError(
            f"cannot make a folder for the run below {root}: {error.strerror}; "
            "name another place with --output"
        ) from None
    raise UserError(f"there are 10000 runs {name} below {root} already")


def is_locked(folder: Path) -> bool | None:
    """True if a process is writing into a run folder; None: this file system has no locks.

    Some network file systems keep locks per host: other hosts do not see them.
    """
    import fcntl

    try:
        with (folder / "run.json").open(encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    return False


def _lock(folder: Path) -> IO[str]:
    """A lock held while this process writes; the system releases it when the process ends.

    The file is opened for writing, although nothing is written, since NFS locks no others.
    """
    import fcntl

    path = folder / "run.json"
    try:
        file = path.open("r+", encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write into {folder}: {error.strerror}: run.json") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise UserError(f"another mpigauge is writing into {folder}") from None
    except OSError:
        pass  # a file system without locks, as Lustre may be: two resumes are not kept apart
    return file

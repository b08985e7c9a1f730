# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The stored parts: reads them, chooses the runs that count in each, and merges small ones.

Every query of a folder with new runs adds a part. When there are many, the smaller ones are merged.
Parts that other jobs removed meanwhile are ignored, and made again if needed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import mpigauge
from mpigauge.result.library.build import (
    MANIFEST,
    UNFINISHED,
    UNREAD,
    FolderState,
    TablePart,
    copy,
    finish,
    new_part,
    quoted,
)
from mpigauge.result.library.folders import Print
from mpigauge.result.library.tables import TABLES
from mpigauge.runs.store.files import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from duckdb import DuckDBPyConnection

FOLDER = ".tables"
MOST = 8
"""The most parts before they are merged."""
KEPT = 4
"""The number of largest parts that stay when the others are merged."""
_MARK = b"PAR1"
_ABANDONED_S = 86400.0
_OTHER_LAYOUT_S = 30 * 86400.0


def place_in(root: Path) -> Path:
    """Returns the folder for the parts of a folder of runs; each set of columns and each version
    of mpigauge has its own, since versions may compute rows differently."""
    layout = json.dumps([mpigauge.__version__, SCHEMA, TABLES]).encode()
    return root / FOLDER / hashlib.sha256(layout).hexdigest()[:12]


def read_parts(place: Path) -> list[TablePart]:
    """The parts of tables that are whole. The order is the same for everybody."""
    try:
        folders = sorted(place.iterdir())
    except OSError:
        return []
    parts = []
    for folder in folders:
        if folder.name.startswith(UNFINISHED):
            continue
        part = read_part(folder)
        if part:
            parts.append(part)
    return parts


def read_part(folder: Path) -> TablePart | None:
    """Reads a part; None: a file is missing or does not match the manifest."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if not all(_whole(folder / f"{t}.parquet", manifest["bytes"][t]) for t in TABLES):
            return None
        return TablePart(folder, {name: _entry(entry) for name, entry in manifest["runs"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _entry(values: Mapping[str, Any]) -> FolderState:
    changed = {"print": Print(*values["print"]), "notes": tuple(values["notes"])}
    return FolderState(**{**values, **changed})


def _whole(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        file.seek(-len(_MARK), 2)
        return file.read() == _MARK and file.tell() == size


ChosenParts = dict[str, "tuple[TablePart, FolderState]"]
"""Runs by their names, each with the one part whose lines of it count."""


def choose(
    parts: Sequence[TablePart], states: Mapping[str, str], fresh: AbstractSet[str] = frozenset()
) -> ChosenParts:
    """The first part of each run that read it as it is now; of those that have just been read
    (`fresh`) the last one that could not read it well; runs without one are not in it."""
    chosen: ChosenParts = {}
    for part in parts:
        for name, entry in part.entries.items():
            if entry.state == states.get(name):
                chosen.setdefault(name, (part, entry))
    for part in reversed(parts):
        for name in fresh & part.entries.keys():
            if part.entries[name].state == UNREAD:
                chosen.setdefault(name, (part, part.entries[name]))
    return chosen


def select(table: str, parts: Sequence[TablePart], counted: Mapping[str, TablePart]) -> str:
    """All lines of a table: of every part those of the runs that count in it."""
    whole, some = [], []
    for part in parts:
        counts, extra = False, []
        for name, entry in part.entries.items():
            if counted.get(name) is part:
                counts = True
            elif not entry.refused:
                extra.append(quoted(name))
        if not extra:
            whole.append(part)
        elif counts:
            some.append(f"{_scan(table, [part])} WHERE run NOT IN ({', '.join(extra)})")
    first = _scan(table, whole) if whole else _nothing(table)
    return " UNION ALL ".join([first, *some])


def _scan(table: str, parts: Sequence[TablePart]) -> str:
    files = ", ".join(quoted(part.file(table)) for part in parts)
    return f"SELECT * FROM read_parquet([{files}])"


def _nothing(table: str) -> str:
    columns = ", ".join(f'CAST(NULL AS {f.type}) AS "{f.name}"' for f in TABLES[table])
    return f"SELECT {columns} WHERE false"


def tidy(
    con: DuckDBPyConnection, place: Path, parts: Sequence[TablePart], chosen: ChosenParts
) -> list[TablePart]:
    """Removes unused parts, and merges the small ones if there are many."""
    used = {part.folder for part, _ in chosen.values()}
    kept = [part for part in parts if part.folder in used]
    small = sorted(kept, key=_size)[:-KEPT] if len(kept) > MOST else []
    made = [_merged(con, place, small, chosen)] if small else []
    _remove(part.folder for part in parts if part in small or part.folder not in used)
    if made:
        _remove_abandoned(place)
    return [part for part in kept if part not in small] + made


def _merged(
    con: DuckDBPyConnection, place: Path, parts: Sequence[TablePart], chosen: ChosenParts
) -> TablePart:
    counted = {name: part for name, (part, _) in chosen.items() if part in parts}
    with new_part(place) as folder:
        for table in TABLES:
            copy(con, select(table, parts, counted), folder / f"{table}.parquet")
        return finish(folder, {name: chosen[name][1] for name in counted})


def _size(part: TablePart) -> int:
    return sum(part.file(table).stat().st_size for table in TABLES)


def _remove(folders: Iterable[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)  # others may be at it too


def _remove_abandoned(place: Path) -> None:
    """Removes unfinished parts of killed jobs, damaged parts, and parts of other versions that
    have not changed for a month."""
    for folder in sorted(place.iterdir()):
        if _age_s(folder) <= _ABANDONED_S:
            continue
        if folder.name.startswith(UNFINISHED) or not read_part(folder):
            _remove([folder])
    for folder in sorted(place.parent.iterdir()):
        if folder != place and _age_s(folder) > _OTHER_LAYOUT_S:
            _remove([folder])


def _age_s(folder: Path) -> float:
    """Since something was put into it or taken out; 0 where it is gone already."""
    with suppress(OSError):
        return time.time() - folder.stat().st_mtime
    return 0.0

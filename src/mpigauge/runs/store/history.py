# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The history of runs on each machine, in the user's data folder.

There is a small file for each machine and MPI, independent of --output.

A file names the machine and the MPI in words, for `mpigauge history list`. For each run it holds
the time of creation, and for each cell a hash of its columns with its value and error: nothing else
of the command, of settings or of the user. At most MOST_RUNS runs of MOST_CELLS cells are kept.

None of it is ever shared: the part that a run used is in its own history.json, which has no names.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.model.between import MOST_RUNS, Remembered
from mpigauge.model.units import many
from mpigauge.runs.store.files import whole
from mpigauge.site.builds.folders import locked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SWITCH = "MPIGAUGE_HISTORY"
"""The environment variable for the history: off, or another folder for the files."""
OFF = ("off", "0", "no", "none")
MOST_CELLS = 1000
_MANY = 2
_SCHEMA = 1


@dataclass(frozen=True)
class HistoryKey:
    """The machine and MPI of a history, in words."""

    machine: str
    mpi: str

    @property
    def file_name(self) -> str:
        return sha256(f"{self.machine}\n{self.mpi}".encode()).hexdigest()[:16] + ".json"


@dataclass(frozen=True)
class History:
    """The remembered runs of one machine and MPI."""

    place: HistoryKey
    path: Path
    runs: tuple[Remembered, ...]
    """The runs, oldest first."""


def folder(environment: Mapping[str, str] | None = None) -> Path | None:
    """The folder of the files; None: the history is disabled."""
    environment = os.environ if environment is None else environment
    chosen = environment.get(SWITCH, "").strip()
    if chosen.lower() in OFF:
        return None
    if chosen:
        return Path(chosen).expanduser().absolute()
    data = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "mpigauge" / "history"


def place_of(header: Mapping[str, Any], passport: Mapping[str, Any]) -> HistoryKey | None:
    """The machine and MPI of a run. One host is identified by its name; several by their number and
    the common parts of their names, since a batch system assigns others each time. None: unknown.
    """
    machine, mpi = _object(passport.get("machine")), _object(header.get("mpi"))
    blocks = [block for part in _parts(header) for block in _objects(part.get("blocks"))]
    names = {str(b.get("hostname") or b["host"]) for b in blocks if b.get("host")}
    names = names or {str(machine.get("hostname", ""))}
    if not mpi.get("name") or names == {""} or header.get("imported"):
        return None
    alike = sorted({_without_digits(name) for name in names})
    hosts = f"{len(names)} hosts {', '.join(alike)}" if len(names) >= _MANY else "".join(names)
    words = (hosts, str(machine.get("cpu_model", "")), _cpus(machine))
    abi = " (standard ABI)" if mpi.get("abi") == "std" else ""
    label = f"{mpi['name']} {mpi.get('version', '')}".strip() + abi
    return HistoryKey(", ".join(filter(None, words)), label)


def conditions_of(header: Mapping[str, Any]) -> str:
    """A hash of everything that applies to a whole run, affects its values, and is in no column of
    cells."""
    plan = _object(header.get("plan"))
    names = ("settings", "env", "launcher", "bound_by", "oversubscribe", "cache_bytes")
    seats = sorted(
        f"{part.get('world_ranks')} {block.get('bind')}"
        for part in _parts(header)
        for block in _objects(part.get("blocks"))
    )
    facts = [
        header.get("version"),
        _object(header.get("transport")).get("name"),
        [plan.get(name) for name in names],
        sorted(set(seats)),
    ]
    if rules := _object(header.get("tuned")).get("sha256"):
        facts.append(rules)
    return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def name_of_run(header: Mapping[str, Any]) -> str:
    """The name of a run in the history, which stays the same if it is remembered again, as after a
    resume."""
    facts = [header.get("created"), _object(header.get("plan")).get("seed")]
    return sha256(json.dumps(facts, default=str).encode()).hexdigest()[:16]


def read(root: Path, place: HistoryKey) -> tuple[Remembered, ...]:
    """The remembered runs, oldest first; empty if the file is missing or damaged."""
    return _runs(_content(root / place.file_name))


def add(root: Path, place: HistoryKey, run: Remembered) -> None:
    """Adds a run; one with the same name is replaced. OSError: the file cannot be written."""
    root.mkdir(parents=True, exist_ok=True)
    path = root / place.file_name
    with locked(path.with_suffix(".lock")):
        others = (each for each in read(root, place) if each.name != run.name)
        few = replace(run, cells=dict(islice(run.cells.items(), MOST_CELLS)))
        _write(path, place, sorted([*others, few], key=lambda each: each.when)[-MOST_RUNS:])


def histories(root: Path) -> list[History]:
    """All readable histories, by machine and MPI."""
    entries = [_history(path) for path in sorted(root.glob("*.json"))]
    return sorted(
        (each for each in entries if each), key=lambda each: (each.place.machine, each.place.mpi)
    )


def clear(which: Iterable[History]) -> None:
    """Removes histories. OSError: one cannot be removed.

    Lock files stay: a process waiting for a removed one would hold it next to the owner of a new
    one.
    """
    for each in which:
        with locked(each.path.with_suffix(".lock")):
            each.path.unlink(missing_ok=True)


def _write(path: Path, place: HistoryKey, runs: Sequence[Remembered]) -> None:
    data = {
        "schema": _SCHEMA,
        "machine": place.machine,
        "mpi": place.mpi,
        "runs": [run.to_json() for run in runs],
    }
    with whole(path) as part:
        part.write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")


def _history(path: Path) -> History | None:
    data = _content(path)
    if not data:
        return None
    place = HistoryKey(str(data.get("machine", "")), str(data.get("mpi", "")))
    return History(place, path, _runs(data))


def _content(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if isinstance(data, dict) and data.get("schema") == _SCHEMA:
        return data
    return {}


def _runs(data: Mapping[str, Any]) -> tuple[Remembered, ...]:
    """The remembered runs without damaged ones."""
    runs = []
    for each in _objects(data.get("runs")):
        with suppress(ValueError):
            runs.append(Remembered.from_json(each))
    return tuple(runs)


def _parts(header: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return _objects(_object(header.get("plan")).get("parts"))


def _objects(values: Any) -> list[Mapping[str, Any]]:
    """The objects in a list; empty if it is damaged."""
    every = values if isinstance(values, (list, tuple)) else ()
    return [value for value in every if isinstance(value, dict)]


def _object(value: Any) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    return {}


def _cpus(machine: Mapping[str, Any]) -> str:
    cpus = machine.get("pus")
    if isinstance(cpus, list):
        return many(len(cpus), "CPU")
    return ""


def _without_digits(name: str) -> str:
    """The common form of the names of a cluster's hosts: node# for node017 and node101."""
    bare = name.partition(".")[0]
    stem = bare.rstrip("0123456789")
    if stem != bare:
        return f"{stem}#"
    return bare

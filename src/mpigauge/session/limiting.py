# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The limits of the node that a run was made on: of a run that is named, or of one beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.errors import UserError
from mpigauge.model.moments import moment_of
from mpigauge.runs.store import load, run_folders

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from mpigauge.result.document import Document
    from mpigauge.result.node.hardware import Hardware
    from mpigauge.runs.store import Run

NONE = "none"
MOST_TRIED = 4
"""Runs that are looked into, those closest in time first."""
NEIGHBOURS = 100
"""Runs before and after one whose headers are read; farther ones only where their name says that
they are of a node. A store on a network may hold thousands."""
_MARK = f'"{NODE_SUITE}:'
"""The mark in run.json of a run that was to measure the node itself."""


def with_limits(shown: Document, stored: Run, word: str | None = None) -> Document:
    """The document with the limits of its node, if they are known. UserError: the run that `word`
    names has none, or those of another machine."""
    from dataclasses import replace

    hardware = _hardware(stored, word)
    if hardware is None:
        return shown
    from mpigauge.result.node.against import limits
    from mpigauge.result.run_view import RunView

    return replace(shown, limits=limits(hardware, RunView.of(stored), shown.headline))


def _hardware(stored: Run, word: str | None) -> Hardware | None:
    if word == NONE:
        return None
    if word is None:
        own = any(cell.suite == NODE_SUITE for cell in stored.cells)
        if own:
            return _of(stored)
        return next(_beside(stored, _candidates(stored)), None)
    from mpigauge.result.node.hardware import hardware, same_node
    from mpigauge.session.run_names import open_run

    named = open_run(word)
    node = hardware(named)
    if node is None:
        raise UserError(
            f"--limits {word}: it holds nothing of the node itself; `mpigauge node` measures it"
        )
    if not same_node(stored, named):
        raise UserError(
            f"--limits {word}: it was made on {node.host or 'an unknown machine'}, or with other "
            f"CPUs allowed than {stored.path.name}; limits are of the same machine"
        )
    return node


def _of(stored: Run) -> Hardware | None:
    """Its own, or of a run beside it where it measured something else of the node."""
    from mpigauge.result.node.hardware import hardware

    return hardware(stored) or next(_beside(stored, _candidates(stored)), None)


def _beside(stored: Run, candidates: list[Path]) -> Iterator[Hardware]:
    """The hardware from runs in the same folder on the same machine, the closest in time first."""
    if not candidates:
        return
    from mpigauge.result.node.hardware import hardware, same_node

    for path in candidates[:MOST_TRIED]:
        try:
            other = load(path, cards=False)
        except UserError:
            continue  # a damaged run beside this one takes nothing from it
        node = hardware(other) if same_node(stored, other) else None
        if node is not None and (node.mailbox_s or node.one_copy):
            yield node


def _candidates(stored: Run) -> list[Path]:
    own = moment_of(stored.header.get("created"))
    if not stored.path.is_dir() or own is None:
        return []
    candidates = []
    for path in near_in(stored.path.name, run_folders(stored.path.absolute().parent)):
        created = _of_node(path / "run.json")
        if created is not None:
            candidates.append((abs((created - own).total_seconds()), path))
    return [path for _, path in sorted(candidates)]


def near_in(name: str, folders: Mapping[str, Path]) -> Iterator[Path]:
    """Runs by their names, which begin with when they were made unless somebody chose another."""
    names = sorted({*folders, name})
    place = names.index(name)
    for at, other in enumerate(names):
        if other != name and (abs(at - place) <= NEIGHBOURS or "node" in other.lower()):
            yield folders[other]


def _of_node(header: Path) -> datetime | None:
    """The time of a run that was to measure the node, for only such a run is worth loading. None:
    it was another run, or cannot be read, which `mpigauge runs` reports."""
    import json

    try:
        text = header.read_text(encoding="utf-8")
        data = json.loads(text) if _MARK in text else {}
    except (OSError, ValueError):
        return None
    if isinstance(data, dict):
        return moment_of(data.get("created"))
    return None

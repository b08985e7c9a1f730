# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the profile that a word names, in a run folder or a shared file."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from mpigauge.model.errors import UserError
from mpigauge.model.units import many
from mpigauge.products.profile import KIND
from mpigauge.runs.store.imported import REFERENCE
from mpigauge.runs.store.pack import opened
from mpigauge.session.run_names import find_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.products.profile.store.stored import ProfiledJob

HEADER = "run.json"
_DAMAGED = (
    OSError, ValueError, RecursionError, AttributeError, KeyError, BadZipFile, StopIteration
)  # fmt: skip
"""The errors of reading a run.json that is damaged or foreign."""


def word_for(folder: Path) -> str:
    """Returns the shortest word that names a run: its name if that is found, else its path."""
    try:
        if find_run(folder.name).resolve() == folder.resolve():
            return folder.name
    except UserError:
        pass
    try:
        return str(folder.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(folder)


def profile_at(word: str, job: int | None = None) -> tuple[ProfiledJob, ...] | None:
    """Returns the jobs of a profile, or the one of this number in each launch; None: the run is not
    one. UserError: there is no such run or job, or it cannot be read."""
    if not is_profile(word):
        return None
    from mpigauge.products.profile.launch.left import collect_left
    from mpigauge.products.profile.store.stored import load_jobs

    collect_left(find_run(word))
    with opened(find_run(word)) as folder:
        jobs = load_jobs(folder)
    return jobs if job is None else _numbered(word, jobs, job)


def _numbered(word: str, jobs: Sequence[ProfiledJob], number: int) -> tuple[ProfiledJob, ...]:
    """The jobs with this number. UserError: no job has it; the message lists the numbers."""
    chosen = tuple(job for job in jobs if job.number == number and job.ranks)
    if chosen:
        return chosen
    there = {job.number: job for job in reversed(jobs) if job.ranks}
    listed = ", ".join(
        f"{each} ({there[each].program}, {many(len(there[each].ranks), 'rank')})"
        for each in sorted(there)
    )
    raise UserError(f"--job {number}: {word} has no such job; there are: {listed or 'none'}")


def is_profile(word: str) -> bool:
    """True if the named run is a profile. UserError: there is no such run."""
    return not word.startswith(REFERENCE) and holds_profile(find_run(word))


def holds_profile(path: Path) -> bool:
    """True if this run folder or shared file is a profile; false if it is damaged, which is
    reported when it is opened."""
    try:
        return bool(json.loads(_header(path)).get("kind") == KIND)
    except _DAMAGED:
        return False


def _header(path: Path) -> bytes:
    """Returns the contents of run.json."""
    if not path.is_file():
        return (path / HEADER).read_bytes()
    with ZipFile(path) as pack:
        name = next(name for name in pack.namelist() if PurePosixPath(name).name == HEADER)
        return pack.read(name)

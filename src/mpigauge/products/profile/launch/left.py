# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Collects the files of ranks for a profile if mpigauge was killed before it could."""

from __future__ import annotations

import os
from pathlib import Path

from mpigauge.cli.output import tell
from mpigauge.measuring.jobs.agent import Agent
from mpigauge.model.errors import RunError, UserError
from mpigauge.products.profile.launch.gather import (
    LeftFiles,
    forget_left,
    is_own_folder,
    left_in,
    remove,
)
from mpigauge.products.profile.launch.launching import Start
from mpigauge.products.profile.launch.profiling import Profiling, facts_of
from mpigauge.runs.store import RunWriter
from mpigauge.runs.store.files import LEFT
from mpigauge.site.launch.leftovers import in_use


def collect_left(run: Path) -> None:
    """Stores the files that a killed mpigauge left in the run folder, unless the program runs."""
    if not (run / LEFT).is_file():
        return
    try:
        writer = RunWriter(run)
    except UserError:
        return  # mpigauge still runs, and collects it itself; or nothing can be written here
    with writer:
        left = left_in(run)
        if left is not None and _can_be_collected(left, run):
            _collect(left, writer)


def _can_be_collected(left: LeftFiles, run: Path) -> bool:
    """True if the files are on this host and complete."""
    folder = Path(left.folder)
    if left.host != os.uname().nodename:
        tell(f"what ranks wrote for {run} is on {left.host}; run the command there to collect it")
        return False
    if not is_own_folder(folder):
        forget_left(run)
        return False
    if _is_written(folder):
        tell(f"the program of {run} still runs; a command after its end collects what ranks wrote")
        return False
    return True


def _is_written(folder: Path) -> bool:
    files = {(path.stat().st_dev, path.stat().st_ino) for path in folder.iterdir()}
    return not files.isdisjoint(in_use())


def _collect(left: LeftFiles, writer: RunWriter) -> None:
    profiling = Profiling(
        lambda _: Start((), {}), {}, writer, tell, Agent(left.words, left.shell), left.hosts
    )
    jobs = profiling.collected(left.launch, Path(left.folder), left.hosts)
    try:
        writer.amend(facts_of(jobs))
        writer.finish("interrupted", reason="mpigauge was killed")
    except RunError as error:
        tell(str(error))
        return
    remove(Path(left.folder))
    forget_left(writer.folder)
    tell(f"mpigauge was killed while {writer.folder} was profiled; its ranks' files are collected")

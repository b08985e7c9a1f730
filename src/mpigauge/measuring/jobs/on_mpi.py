# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A job whose program runs on its MPI, whichever MPI the program was linked to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.site.mpi.programs.ways import NONE, PRELOAD
from mpigauge.site.mpi.programs.witness import PROFILER, variables_for_ranks, witness

if TYPE_CHECKING:
    from mpigauge.site.launch import Job
    from mpigauge.site.launch.job import App
    from mpigauge.site.mpi.programs.ways import Way


def on_its_mpi(
    job: Job, way: Way, here: Mapping[str, str], folder: str = "", first: Sequence[Path] = ()
) -> Job:
    """The job of one program, each of whose ranks checks that it is on this MPI and with the
    others; with a `folder`, it records there where it runs. `first` is preloaded before everything
    else: a profiler, which checks its ranks itself and uses the next library as the MPI."""
    if way.how == NONE and not first:
        return job
    if first:
        return replace(job, env={**job.env, **way.variables({**here, **job.env}, first)})
    more = _variables(way, {**here, **job.env})
    return replace(
        job, env={**job.env, **more, **variables_for_ranks(job.mpi, way.abi, job.ranks, folder)}
    )


def apps_on_their_mpi(
    job: Job, ways: Sequence[Way], here: Mapping[str, str], folder: str = ""
) -> Job:
    """A job of several programs, each adapted to the MPI in its own way."""
    apps = tuple(
        _on_its_mpi(app, way, job, here, folder) for app, way in zip(job.apps, ways, strict=True)
    )
    return replace(job, apps=apps)


def _on_its_mpi(app: App, way: Way, job: Job, here: Mapping[str, str], folder: str) -> App:
    if way.how == NONE:
        return app
    more = _variables(way, {**here, **job.env, **app.env})
    return replace(
        app, env={**app.env, **more, **variables_for_ranks(job.mpi, way.abi, job.ranks, folder)}
    )


def _variables(way: Way, env: Mapping[str, str]) -> dict[str, str]:
    """The variables of ranks, with the library that checks them, unless they are profiled: the
    profiler does that itself, and would count the calls of another library."""
    preloaded = env.get(PRELOAD, "").replace(" ", ":").split(":")
    if PROFILER in {Path(each).name for each in preloaded}:
        return way.variables(env)
    return way.variables(env, (witness(),))

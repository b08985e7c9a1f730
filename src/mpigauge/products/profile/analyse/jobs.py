# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Chooses the job of each launch that a profile is about, and the launch in the middle."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.store.stored import ProfiledJob


def main_jobs(jobs: Sequence[ProfiledJob]) -> list[ProfiledJob]:
    """Returns the job of each launch with most MPI calls, if its program and number of ranks are
    those of the job with most calls of all."""
    best: dict[int, ProfiledJob] = {}
    for job in jobs:
        earlier = best.get(job.launch)
        if job.ranks and (earlier is None or _weight(job) > _weight(earlier)):
            best[job.launch] = job
    if not best:
        return []
    kind = _kind(max(best.values(), key=_weight))
    return [best[launch] for launch in sorted(best) if _kind(best[launch]) == kind]


def _kind(job: ProfiledJob) -> tuple[object, ...]:
    """Returns the facts that all launches of one job share."""
    return job.program, job.expected, job.source


def _weight(job: ProfiledJob) -> int:
    return int(job.profile.rows["calls"].sum())


def accounts_of(jobs: Sequence[ProfiledJob]) -> list[Account]:
    """Returns the account of each launch, the one with the median share of MPI first."""
    accounts = [Account(job) for job in jobs]
    if not accounts:
        return []
    by_share = sorted(accounts, key=lambda each: each.mean_share)
    middle = by_share[len(accounts) // 2]
    others = [each for each in accounts if each is not middle]
    return [middle, *others]

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The options of Hydra for hosts.

MPICH's accepts the hosts of all ranks with their numbers once (`-hosts a:2,b:1`). Intel's ignores
such numbers, so that each host with a different number of ranks is a set of its own. Both read the
hosts from a file (`-f`) if their list is too long for a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.site.launch.job import LONGEST_WORD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.site.launch.job import Job, RankSet


def of_job(job: Job) -> tuple[list[str], Mapping[str, str]]:
    """Returns MPICH's options for the hosts of all ranks, and the file that they name."""
    if not job.hosts:
        return [], {}
    if job.in_turn:
        words, files = _listed(job, [host.name for host in job.hosts])
        return [*words, "-ppn", "1"], files
    return _listed(job, [f"{host.name}:{host.ranks}" for host in job.hosts])


def of_set(job: Job, ranks: RankSet, sets: int) -> tuple[list[str], Mapping[str, str]]:
    """Returns Intel's options for the hosts of one of `sets` sets, and the file that they name."""
    if not ranks.hosts:
        return [], {}
    if sets > 1:
        return ["-host", ranks.hosts[0].name], {}
    words, files = _listed(job, [host.name for host in ranks.hosts])
    return [*words, "-ppn", "1" if job.in_turn else str(ranks.hosts[0].ranks)], files


def _listed(job: Job, hosts: Sequence[str]) -> tuple[list[str], Mapping[str, str]]:
    if len(listed := ",".join(hosts)) <= LONGEST_WORD:
        return ["-hosts", listed], {}
    file = f"{job.stem}.hosts"
    return ["-f", file], {file: "".join(f"{host}\n" for host in hosts)}

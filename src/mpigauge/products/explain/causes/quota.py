# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A cgroup that allows less CPU time than ranks use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.products.explain.needs import FACT, machine, seats
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause(
    "quota",
    "a cgroup that allows less CPU time than the ranks use",
    seats,
    machine,
    of=ANY,
    sure_from=FACT,
)
def look(view: RunView) -> Iterator[Finding]:
    here = view.machine
    quota = here.get("cpu_quota")
    first = min(rank.launch for rank in view.run.ranks)
    hosts = Counter(rank.host for rank in view.run.ranks if rank.launch == first)
    ranks = hosts.get(here.get("hostname", ""), 0)
    if quota is not None and quota < ranks:
        yield Finding(
            what=f"{ranks} ranks share {quota:.3g} CPUs' worth of time",
            likely="ranks that wait by polling use up their share, and are then stopped for "
            "milliseconds",
            evidence=(
                f"the cgroup of {here['hostname']} has this limit (cpu.max or cpu.cfs_quota_us)",
            ),
            attempts=("a container or job with a CPU for each rank, or fewer ranks",),
        )

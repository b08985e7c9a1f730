# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The second for which Open MPI 5 sleeps in MPI_Init."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import duration
from mpigauge.products.explain.needs import FACT, seats
from mpigauge.products.explain.registry import cause
from mpigauge.result.facts import starts_of
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY
from mpigauge.site.mpi.quick_start import SLEEP_S, VARIABLE, WITHOUT_OFI, is_slow_version

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause("start-up", "a needless second in MPI_Init of Open MPI 5", seats, of=ANY, sure_from=FACT)
def look(view: RunView) -> Iterator[Finding]:
    mpi = view.run.header.get("mpi") or {}
    if not is_slow_version(str(mpi.get("name", "")), str(mpi.get("version", ""))):
        return
    least_s = min(starts_of(view.run.ranks), default=0.0)
    if least_s < SLEEP_S:
        return
    yield Finding(
        what=f"MPI_Init takes {duration(least_s)} or more in every launch",
        likely="Open MPI 5 sleeps for one second while its component btl/ofi starts",
        evidence=("Open MPI 5.0.11 starts in 0.02 s without that component",),
        attempts=(
            f"`export {VARIABLE}={WITHOUT_OFI[VARIABLE]}` in scripts that start short jobs",
            "the default where one-sided communication uses a network: it may need btl/ofi",
        ),
    )

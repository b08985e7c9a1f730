# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The second for which Open MPI 5 sleeps in MPI_Init."""

from __future__ import annotations

from collections.abc import Iterator

from mpigauge.model.units import duration
from mpigauge.products.doctor.check_finding import CheckFinding, Host, good, note, unknown
from mpigauge.products.doctor.registry import check

NOTICEABLE_S = 0.5
"""A shorter wait is not the sleep of a whole second."""


@check("start-up", "whether the MPI starts without a needless wait")
def start_up(host: Host) -> Iterator[CheckFinding]:
    start = host.start
    if start is None:
        yield unknown("no MPI was started")
    elif start.quick_s is None:
        yield good(f"two ranks of {start.label} start, exchange a message and end")
    elif start.usual_s - start.quick_s < NOTICEABLE_S:
        yield good(f"two ranks of {start.label} run {duration(start.usual_s)}")
    else:
        yield note(
            f"two ranks of {start.label} run {duration(start.usual_s)}, and "
            f"{duration(start.quick_s)} without btl/ofi, which sleeps while it starts",
            f"{duration(start.usual_s - start.quick_s)} of each launch; mpigauge leaves btl/ofi "
            "out of its own launches on one host unless they use one-sided communication",
            "in scripts that start short jobs on one host: `export OMPI_MCA_btl=^ofi`",
        )

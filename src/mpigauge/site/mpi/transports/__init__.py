# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which transports an MPI can use here, by one name for all MPIs, and how each is told.

An MPI is one file in this folder that says `@transports_of("name")` over a function from Offers to
the transports that can be selected, and `@report_from("name", settings)` over one that reads what
the MPI reports of what it uses. There is no list to edit.
"""

from __future__ import annotations

from mpigauge.site.mpi.transports.choose import choose, transports
from mpigauge.site.mpi.transports.probe import offers
from mpigauge.site.mpi.transports.registry import report_of

__all__ = ["choose", "offers", "report_of", "transports"]

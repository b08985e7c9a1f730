# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""From a name to the settings of an MPI; a name that is not there lists those that are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.site.mpi.transports.registry import TRANSPORT_LISTS

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.transport import Offers, Transport


def transports(mpi: Mpi, offers: Offers) -> tuple[Transport, ...]:
    """All that this MPI can be told to use here. UserError: we do not know how to tell it."""
    if mpi.name not in TRANSPORT_LISTS:
        known = ", ".join(TRANSPORT_LISTS)
        raise UserError(
            f"how {mpi.label} is told its transport is not known (known: {known}); give its own "
            "settings with --set"
        )
    return tuple(TRANSPORT_LISTS[mpi.name](mpi, offers))


def choose(name: str, mpi: Mpi, offers: Offers) -> Transport:
    """The transport of this name. UserError: it is not there."""
    found = {transport.name: transport for transport in transports(mpi, offers)}
    if name in found:
        return found[name]
    there = ", ".join(found) or "none"
    raise UserError(
        f"--transport: {mpi.label} has no '{name}' here{did_you_mean(name, found)} (there are: "
        f"{there}; `mpigauge transports` says what each is)"
    )

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Converts a transport's name to settings of an MPI; an error lists the existing ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.site.mpi.transports.registry import TRANSPORT_LISTS

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.transport import Offers, Transport


def transports(mpi: Mpi, offers: Offers) -> tuple[Transport, ...]:
    """Returns all transports for this MPI on this host. UserError: the MPI is not supported."""
    if mpi.name not in TRANSPORT_LISTS:
        names = ", ".join(TRANSPORT_LISTS)
        raise UserError(
            f"the transports of {mpi.label} are not known (known: {names}); give its own "
            "settings with --set"
        )
    return tuple(TRANSPORT_LISTS[mpi.name](mpi, offers))


def choose(name: str, mpi: Mpi, offers: Offers, option: str = "--transport") -> Transport:
    """Returns the transport of this name. `option`: its source, for errors. UserError: it does not
    exist."""
    by_name = {transport.name: transport for transport in transports(mpi, offers)}
    if name in by_name:
        return by_name[name]
    there = ", ".join(by_name) or "none"
    raise UserError(
        f"{option}: {mpi.label} has no '{name}' here{did_you_mean(name, by_name)} (there are: "
        f"{there}; `mpigauge mpi transports` describes each)"
    )

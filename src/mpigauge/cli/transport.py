# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""--transport: one name for every MPI, which becomes settings of the one that is measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.cli.measuring import Setup
    from mpigauge.plan.request import Request

transport_option = click.option(
    "--transport",
    metavar="NAME",
    help="What carries the messages: shm, tcp, tcp:eth0, ucx:mlx5_0:1, … (`mpigauge transports`).",
)


def with_transport(request: Request, setup: Setup, name: str | None) -> tuple[Request, Setup]:
    """The settings that select it are the request's, its name is stored with the run."""
    if name is None:
        return request, setup
    from mpigauge.mpi.transports import choose, offers

    chosen = choose(name, setup.mpi, offers(setup.mpi))
    refuse_contradictions(name, chosen.settings, request.settings)
    settings = {**request.settings, **chosen.settings}
    return replace(request, settings=settings), replace(setup, transport=name)


def refuse_contradictions(name: str, chosen: Mapping[str, str], given: Mapping[str, str]) -> None:
    """A setting and a transport must not both say something of one variable."""
    for variable, value in chosen.items():
        for word in (variable, variable.removeprefix("OMPI_MCA_")):
            if given.get(word, value) != value:
                raise UserError(
                    f"--transport {name} sets {variable}={value}, --set says {word}={given[word]}; "
                    "leave one of them out"
                )

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""--transport: one name for every MPI, which becomes settings of the one that is measured."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.transport import Selected
from mpigauge.session.gpus import transport_for_gpus
from mpigauge.site import batch
from mpigauge.site.launch import Job, OnHost
from mpigauge.site.mpi.transports.choose import choose
from mpigauge.site.mpi.transports.probe import offers
from mpigauge.site.mpi.transports.registry import report_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.measuring.plan.request import Request
    from mpigauge.model.transport import Transport
    from mpigauge.session.targets import Setup


def with_transport(setup: Setup, name: str, start: bool = True) -> Setup:
    """The settings that select it are the request's; two ranks are started with them, to see
    whether they work and what the MPI tells of them. UserError: it is not there, or fails."""
    if name == "shm" and len(setup.nodes) > 1:
        raise UserError("--transport shm: shared memory reaches the ranks of one host only")
    before = setup.request
    offered = choose(name, setup.mpi, offers(setup.mpi))
    chosen = replace(offered, settings=transport_for_gpus(setup, offered.settings))
    refuse_contradictions(name, chosen.settings, before.settings)
    request = replace(before, settings={**before.settings, **chosen.settings})
    used = _used(chosen, request, setup) if start else ""
    return replace(setup, request=request, transport=Selected(name, chosen.settings, used))


def refuse_contradictions(name: str, chosen: Mapping[str, str], given: Mapping[str, str]) -> None:
    """A setting and a transport must not both say something of one variable."""
    for variable, value in chosen.items():
        for word in (variable, variable.removeprefix("OMPI_MCA_")):
            if given.get(word, value) != value:
                raise UserError(
                    f"--transport {name} sets {variable}={value}, --set {word}={given[word]}; "
                    "leave one of them out"
                )


def _used(chosen: Transport, request: Request, setup: Setup) -> str:
    """The transport that the MPI reports when two ranks are started like those of the run."""
    from mpigauge.measuring.trials.trial import tried

    report, given = report_of(setup.mpi.name), batch.here(os.environ)
    trial = tried(
        Job(
            mpi=setup.mpi,
            ranks=0,
            program=(),
            env=request.env,
            settings={**report.settings, **request.settings},
            hosts=tuple(OnHost(node.name, 1) for node in setup.nodes),
            agent=request.rsh,
            launcher=request.launcher,
            system=given.system.name if given else "",
        )
    )
    if not trial.works:
        raise UserError(f"--transport {chosen.name} does not work here: {trial.reason}")
    used = report.read(trial.output) if chosen.is_reported else ""
    report_words = f" (it reports: {used})" if used else ""
    setup.view.note(f"{setup.mpi.label} takes {chosen.through}{report_words}")
    return used

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The measurement of nodes: plan, launches, and parts that are measured once more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.cli.output.terminal import TERMINAL
from mpigauge.cli.runs.placing import print_seats
from mpigauge.measuring.plan import read_request
from mpigauge.measuring.plan.compute.blas import BLAS
from mpigauge.model.errors import UserError
from mpigauge.products.node.cluster.plan import cluster_plan, once_more
from mpigauge.products.node.compilers.plan import loops_plan
from mpigauge.products.node.plan import node_plan
from mpigauge.products.node.present import present
from mpigauge.session.lookups import look_up
from mpigauge.session.measuring import PlannedRun, check, measure
from mpigauge.session.run_names import open_run
from mpigauge.session.setup import set_up
from mpigauge.session.targets import CommandOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.measuring.campaign import Results
    from mpigauge.measuring.plan import Plan, PlanPart
    from mpigauge.products.node.cluster.result import Cluster
    from mpigauge.session.targets import Setup


def measure_nodes(
    words: tuple[str, ...],
    output: Path | None,
    mpi_specs: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    **raw: Any,
) -> None:
    """Measures nodes, or prints a stored run again. UserError: an option is wrong."""
    if words and not raw["compilers"]:
        return present(open_run(one_run(words)), as_json)
    values = {**raw, "benchmarks": words}
    request = read_request(values, look_up(values))
    options = CommandOptions(mpi_specs, output=output, dry_run=dry_run)
    runs = []
    for setup in set_up(request, options, TERMINAL):
        plan = plan_of(setup)
        runs.append(PlannedRun(setup, plan, OddHosts(plan)))
    check(runs, options)
    if dry_run:
        return print_seats(runs[0])
    measured = measure(runs, output, "node")
    for stored in measured.runs:
        present(stored, as_json)
    return measured.raise_problems()


def one_run(words: tuple[str, ...]) -> str:
    """UserError: several words, which are loops only where compilers are named."""
    if len(words) > 1:
        raise UserError(
            f"node shows one run, not {len(words)} ({', '.join(words)}); loops are named where "
            "--compiler is, and other benchmarks with `mpigauge run`"
        )
    return words[0]


def plan_of(setup: Setup) -> Plan:
    """The plan of this machine, of the hosts together and one by one, or of loops by several
    compilers."""
    if setup.request.compilers:
        return loops_plan(setup.request, setup.cards, setup.resources, setup.mpi)
    if len(setup.resources.hosts) > 1:
        return cluster_plan(setup.request, setup.cards, setup.resources, setup.mpi)
    return node_plan(setup.request, setup.cards, setup.resources, setup.mpi)


@dataclass(frozen=True)
class OddHosts:
    """Measures once more what was odd on some hosts of this plan."""

    plan: Plan

    def parts(self, results: Results) -> Sequence[PlanPart]:
        from mpigauge.products.node.cluster.result import by_arm, cluster

        names = {place: block.host for place, block in enumerate(self.plan.parts[0].blocks)}
        result = cluster(results.rows(), by_arm(names))
        if result is None:
            return []
        together = (part for part in self.plan.parts if not part.arm)
        return [part for each in together for part in odd_parts(each, result)]


def odd_parts(together: PlanPart, cluster: Cluster) -> tuple[PlanPart, ...]:
    """The parts that measure again what was odd, on all hosts at once and on each odd one."""
    library = together.suite_options.get(BLAS, "").partition("=")[0]
    own = []
    for kernel in cluster.kernels:
        if kernel.odd and kernel.library == library and kernel.word in together.benchmarks:
            own.append(kernel)
    odd = {host for kernel in own for host in kernel.odd}
    names = tuple(kernel.word for kernel in own)
    hosts = []
    for place, block in enumerate(together.blocks):
        if block.host in odd:
            hosts.append(place)
    if hosts:
        return once_more(replace(together, benchmarks=names), hosts)
    return ()

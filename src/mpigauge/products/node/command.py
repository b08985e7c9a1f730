# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge node: the machine itself, the limits of all that MPI does on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.helping import MESSAGES, RANKS, Command, option
from mpigauge.cli.options import option_of
from mpigauge.model.option_table import OFFERED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.measuring.campaign import Results
    from mpigauge.measuring.plan import Plan, PlanPart
    from mpigauge.products.node.cluster.result import Cluster
    from mpigauge.runs.store import Run
    from mpigauge.session.targets import Setup


THREADS_AND_MEMORY = ("threads", "thread-order", "memory-on")


@click.command("node", cls=Command)
@click.argument("words", metavar="[RUN | LOOP...]", nargs=-1)
@options.together(
    option(
        "--np",
        metavar="N",
        help="Ranks at most.  [default: one on each core]",
        heading=RANKS,
        brief="Ranks at most.  [default: one on each core]",
    ),
    option(
        "--sizes",
        metavar="SIZE",
        help="Bytes of each array of a rank.  [default: 128Mi]",
        heading=MESSAGES,
        brief="Bytes of each array of a rank.  [default: 128Mi]",
    ),
    *(option_of(row) for row in OFFERED if row.name in THREADS_AND_MEMORY),
    *options.all_shared(
        "place bind-by hosts hostfile ppn launcher rsh blas compiler mpi time precision "
        "launches set env dry-run seed timeout output no-history"
    ),
    options.json_option,
)
def command(
    words: tuple[str, ...],
    output: Path | None,
    mpi_specs: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    **raw: Any,
) -> None:
    """Measure this machine without MPI's calls, in about a minute.

    Memory bandwidth as the simple loop has it and tuned, on one rank and on all; latency from
    cache to memory; the peak of each set of instructions and the clock; products of matrices by a
    BLAS, or by several beside each other; and the least time of a cache line between two cores,
    beside that of a message. --threads 1..8 adds how many threads of one rank it takes, --memory-on
    all the memory of each NUMA node from each other. On several hosts (--hosts): all of them at
    once and one at a time, in one table; those slower than their peers are measured again before
    they are named. With RUN, a stored one is shown again.

    With --compiler only the simple loops (all, or those that are named, such as Triad) are
    measured, as each of several compilers makes them, or one beside ours, with a verdict on each.
    """
    from mpigauge.cli.placing import print_seats
    from mpigauge.cli.terminal import TERMINAL
    from mpigauge.measuring.plan import read_request
    from mpigauge.session.lookups import look_up
    from mpigauge.session.measuring import PlannedRun, check, measure
    from mpigauge.session.run_names import open_run
    from mpigauge.session.setup import set_up
    from mpigauge.session.targets import CommandOptions

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
    from mpigauge.model.errors import UserError

    if len(words) > 1:
        raise UserError(
            f"node shows one run, not {len(words)} ({', '.join(words)}); loops are named where "
            "--compiler is, and other benchmarks with `mpigauge run`"
        )
    return words[0]


def plan_of(setup: Setup) -> Plan:
    """The plan of this machine, of the hosts together and one by one, or of loops by several
    compilers."""
    from mpigauge.products.node.cluster.plan import cluster_plan
    from mpigauge.products.node.compilers.plan import loops_plan
    from mpigauge.products.node.plan import node_plan

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
    from mpigauge.measuring.plan.blas import BLAS
    from mpigauge.products.node.cluster.plan import once_more

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


def present(stored: Run, as_json: bool) -> None:
    """Prints the page of a node, or the JSON that `mpigauge show` prints of any run. UserError: the
    run is about no node."""
    from mpigauge.cli.screen import write
    from mpigauge.cli.showing import show
    from mpigauge.model.width import as_blocks

    lines = page_of(stored)
    if as_json:
        show(stored, "json")
    else:
        write(as_blocks([lines]))


def page_of(stored: Run) -> Sequence[str]:
    """The output of `mpigauge node` for one machine, or for several hosts side by side. UserError:
    the run is about no node."""
    from mpigauge.cli.screen import screen
    from mpigauge.model.errors import UserError
    from mpigauge.products.node.cluster import show as of_cluster
    from mpigauge.products.node.cluster.result import by_ranks, cluster
    from mpigauge.products.node.show import page
    from mpigauge.products.node.show_limits import sections
    from mpigauge.result.document import document
    from mpigauge.result.node.detours import cores
    from mpigauge.result.node.limits import memory_levels
    from mpigauge.result.node.node import node
    from mpigauge.result.node.products import counter_hz
    from mpigauge.show.compilers import compiler_lines

    shown = document(stored)
    if hosts := cluster(shown.rows, by_ranks(stored.ranks)):
        return list(of_cluster.page(shown, hosts, screen().coloured))
    seen = node(shown.rows, counter_hz(stored))
    if seen is None:
        raise UserError(
            f"{stored.path} holds no benchmark of the suite NODE; `mpigauge node` measures them"
        )
    seen = replace(seen, cache_bytes=largest_cache(stored))
    more = list(sections(memory_levels(shown.rows), cores(stored.noise, stored.ranks)))
    if shown.compilers:
        more.insert(0, compiler_lines(shown.compilers, shown.accounts))
    if missing := left_out(stored):
        more.append([f"Left out for want of time (--time): {', '.join(missing)}"])
    return list(page(shown, seen, screen().coloured, more))


def largest_cache(stored: Run) -> int:
    """The largest cache of the machine in the passport, in bytes; 0: not known."""
    from mpigauge.site.topology.stored import stored as as_it_was

    try:
        machine = as_it_was(stored.passport.get("machine") or {})
    except (KeyError, TypeError):
        return 0
    return max((cache.bytes for cache in machine.caches), default=0)


def left_out(stored: Run) -> list[str]:
    """Benchmarks of a plan that keeps to its time, for which none was left."""
    if not stored.plan.get("strict"):
        return []
    measured = {cell.benchmark for cell in stored.cells}
    measured |= {str(skip.key.get("benchmark", "")) for skip in stored.skips}
    planned = [name for part in stored.plan.get("parts") or () for name in part["benchmarks"]]
    bare = dict.fromkeys(str(name).rpartition(":")[2] for name in planned)
    return [name for name in bare if name not in measured]

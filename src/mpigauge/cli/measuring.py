# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What quick, run and resume share: set-up, the campaign, the result, the verdict."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import mpigauge
from mpigauge.cli.showing import show
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.units import byte_count

if TYPE_CHECKING:
    from mpigauge.measure.campaign import Again, Ending
    from mpigauge.measure.campaign.agent import Agent
    from mpigauge.measure.plan import Ground, Plan
    from mpigauge.model.cards import Cards
    from mpigauge.model.hosts import Named, Node
    from mpigauge.model.libraries import Compiler
    from mpigauge.model.machine import Machine
    from mpigauge.model.mpi import Kernels, Mpi
    from mpigauge.model.topology import Topology
    from mpigauge.model.transport import Selected
    from mpigauge.runs.store import Run, RunWriter
    from mpigauge.site.batch import Given


@dataclass(frozen=True)
class Setup:
    """All that has to be there before a plan can be made."""

    machine: Machine
    """The one we stand on."""
    ground: Ground
    """Where ranks can be placed."""
    mpi: Mpi
    kernels: Kernels
    cards: Cards
    nodes: tuple[Node, ...] = ()
    """The hosts that have answered."""
    transport: Selected | None = None
    """What --transport named."""
    compilers: tuple[Compiler, ...] = ()
    """That have made the simple loops."""


def tell(text: str) -> None:
    click.echo(f"mpigauge: {text}", err=True)


@dataclass(frozen=True)
class Wanted:
    """The hosts that somebody wants to measure; none: this machine."""

    hosts: tuple[Named, ...] = ()
    ppn: int | None = None
    rsh: tuple[str, ...] = ()
    output: Path | None = None
    """Where the run will be stored; None: below mpigauge-runs."""
    topology: Topology | None = None
    """What hosts are built like, only to see where ranks would sit; None: as they are."""
    given: Given | None = None
    """The batch job that we are in."""
    launcher: str = ""
    """Another than the MPI's own."""


def prepare(mpi_spec: str | None, wanted: Wanted) -> Setup:
    from mpigauge.measure.plan import Ground
    from mpigauge.model.cards import Cards
    from mpigauge.model.registry import Here
    from mpigauge.site import topology
    from mpigauge.site.launch import check_launcher
    from mpigauge.site.mpi import find, kernels
    from mpigauge.site.placement import Site

    if wanted.ppn is not None and not wanted.hosts:
        raise UserError("--ppn means ranks on each host; name hosts with --hosts or --hostfile")
    mpi, given = find(mpi_spec), wanted.given
    if wanted.launcher:
        check_launcher(wanted.launcher, Here(given.system.name if given else ""))
    built = kernels(mpi, tell)
    machine, cards = topology.read(), Cards.load(built.cards)
    if like := wanted.topology:
        hosts = [(host, replace(like, hostname=host.name)) for host in wanted.hosts]
        sites = tuple(Site(h.name, each, slots_of(h.slots, each, wanted)) for h, each in hosts)
        return Setup(machine, Ground(like, sites, wanted.ppn), mpi, built, cards)
    nodes = reach(wanted, mpi, built) if wanted.hosts else ()
    sites = tuple(Site(n.name, n.machine, slots_of(n.slots, n.machine, wanted)) for n in nodes)
    return Setup(machine, Ground(machine, sites, wanted.ppn), mpi, built, cards, nodes)


def slots_of(slots: int | None, machine: Topology, wanted: Wanted) -> int | None:
    """A batch system counts CPUs, which may be more than there are cores."""
    if wanted.given is None or slots is None:
        return slots
    return min(slots, machine.cores)


def agent_of(wanted: Wanted) -> Agent:
    """What reaches the hosts: as said, else what the batch system has for it, else ssh."""
    from mpigauge.measure.campaign.agent import Agent

    if wanted.rsh:
        return Agent(wanted.rsh)
    if wanted.given and (words := wanted.given.system.agent):
        return Agent(words, wanted.given.system.shell)
    return Agent()


def reach(wanted: Wanted, mpi: Mpi, kernels: Kernels) -> tuple[Node, ...]:
    """Asks all hosts what they are, and says where they differ."""
    from mpigauge.measure.campaign.probe import probe
    from mpigauge.runs.store.writer import DEFAULT_ROOT
    from mpigauge.site.topology import differences

    folder = wanted.output.parent if wanted.output else DEFAULT_ROOT
    nodes = probe(wanted.hosts, mpi, kernels, folder, agent_of(wanted))
    for sentence in differences(nodes):
        tell(sentence)
    return nodes


def measure(
    setup: Setup,
    plan: Plan,
    output: Path | None,
    label: str,
    present: Callable[[Run], None],
    again: Again | None = None,
) -> None:
    """Measures into a new folder, presents what was measured, and raises what went wrong."""
    from mpigauge.cli.screen import screen
    from mpigauge.measure import campaign, live
    from mpigauge.runs.store import RunWriter

    cards = setup.kernels.cards.read_text(encoding="utf-8")
    with RunWriter.create(header(setup, plan), cards, output=output, label=label) as writer:
        write_passport(writer, setup)
        finish(
            writer.folder,
            lambda: campaign.run(
                plan, setup.mpi, setup.kernels, writer, live.view(screen()), again=again
            ),
            present,
        )


def finish(folder: Path, go: Callable[[], Ending], present: Callable[[Run], None]) -> None:
    """What was measured is shown, however the campaign ended."""
    from mpigauge.cli.begun import begin
    from mpigauge.runs.store import load

    begin(folder)
    try:
        ending = go()
    except RunError:
        stored = load(folder)
        if stored.has_numbers:
            present(stored)
        raise
    stored = load(folder)
    present(stored)
    if problems := list(verdict(ending, stored)):
        raise RunError("; ".join(problems))


def header(setup: Setup, plan: Plan) -> dict[str, Any]:
    mpi = {name: _plain(value) for name, value in asdict(setup.mpi).items()}
    return {
        "version": mpigauge.__version__,
        "command": ["mpigauge", *sys.argv[1:]],
        "plan": plan.to_json(),
        "mpi": mpi,
        "transport": asdict(setup.transport) if setup.transport else None,
    }


def write_passport(writer: RunWriter, setup: Setup) -> None:
    from mpigauge.site.mpi.remembered import remembered
    from mpigauge.site.topology import passport
    from mpigauge.site.topology.passport import digest_of

    def digest(path: Path) -> str:
        return remembered("digest", [str(path)], [path], lambda: digest_of(path))

    known = passport(setup.mpi, setup.machine, setup.nodes, digest)
    if setup.compilers:
        known["compilers"] = [asdict(each) | {"name": each.name} for each in setup.compilers]
    try:
        writer.write_passport(known)
    except RunError as error:  # nothing was launched yet
        raise UserError(str(error)) from None


def verdict(ending: Ending, stored: Run) -> list[str]:
    """What went wrong, worst first."""
    return [
        *wrong_words(stored),
        *failure_words(ending),
        *missing_words(ending, stored),
        *nothing_words(ending, stored),
    ]


def nothing_words(ending: Ending, stored: Run) -> list[str]:
    """Where every cell was left out."""
    if ending.status != "done" or stored.has_numbers or not stored.skips:
        return []
    reasons = list(dict.fromkeys(skip.reason for skip in stored.skips))
    more = f" (and {len(reasons) - 1} more reasons)" if len(reasons) > 1 else ""
    return [f"nothing could be measured: {reasons[0]}{more}"]


def wrong_words(stored: Run) -> list[str]:
    from mpigauge.result.stats.words import wrong_data

    wrong = [cell for cell in stored.cells if cell.wrong_count]
    if not wrong:
        return []
    count = sum(cell.wrong_count for cell in wrong)
    names = dict.fromkeys(
        f"{cell.benchmark} {byte_count(cell.message_bytes)}".strip() for cell in wrong
    )
    where = ", ".join(list(names)[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return [f"{wrong_data(count)}, in {where}"]


def failure_words(ending: Ending) -> list[str]:
    failures = ending.failures
    if not failures:
        return []
    first = f"launch {failures[0].launch} failed: {failures[0].reason}"
    others = len(failures) - 1
    return [f"{first} (and {others} more)" if others else first]


def missing_words(ending: Ending, stored: Run) -> list[str]:
    if ending.status == "done":
        return []
    word = "interrupted: " if ending.status == "interrupted" else ""
    count = len(stored.complete)
    launches = "1 launch is" if count == 1 else f"{count} launches are"
    kept = f"{word}{launches} complete, what was measured is kept in {stored.path}"
    return [f"{kept}; `mpigauge resume {stored.path}` goes on"]


def printer(form: str) -> Callable[[Run], None]:
    """Prints a run, and says where it is."""

    def present(stored: Run) -> None:
        show(stored, form)
        click.echo(f"mpigauge: stored in {stored.path}", err=True)

    return present


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value

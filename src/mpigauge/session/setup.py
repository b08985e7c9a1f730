# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Everything needed before a plan can be made: hosts, an MPI, kernels for it, benchmarks."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan import Resources
from mpigauge.measuring.plan.resolve import check_options
from mpigauge.measuring.plan.resources import GPU, check_room_here
from mpigauge.model.cards import NODE_SUITE, Cards
from mpigauge.model.errors import UserError
from mpigauge.model.registry import Here
from mpigauge.model.stored_cards import all_cards
from mpigauge.model.units import first_few
from mpigauge.session.targets import CommandOptions, Setup, Target
from mpigauge.site import topology
from mpigauge.site.placement import HostResources
from mpigauge.site.topology import differences

if TYPE_CHECKING:
    from mpigauge.measuring.jobs.agent import Agent
    from mpigauge.measuring.plan import Request
    from mpigauge.model.cards import Card
    from mpigauge.model.hosts import NamedHost, ProbedHost
    from mpigauge.model.knob import Knob
    from mpigauge.model.machine import Machine
    from mpigauge.model.mpi import Kernels, Mpi
    from mpigauge.model.topology import Topology
    from mpigauge.session.view import View


def set_up(
    request: Request,
    options: CommandOptions,
    view: View,
    enough: Collection[str] = (),
    needs_kernels: bool = True,
    settings_vary: bool = False,
    benchmarks: Sequence[str] = (),
) -> Iterator[Setup]:
    """The setup for each MPI that was named, or for the one that is found, one after the other.
    UserError: something is not there, or one MPI is named twice, or the format is of one run.

    `enough`: the benchmarks of a command that has no others; kernels may have only these.
    `needs_kernels`: not where only programs of the user are to be launched. `settings_vary`: arms
    have more settings, and are checked with them. `benchmarks`: those of a command that does not
    have them in its request.
    """
    from mpigauge.session.gpus import check_gpu_options, with_gpus

    specs = options.mpi_specs
    _check_specs(specs, options.form)
    _check_before_build(request, options)
    target = target_of(request, options)
    names = benchmarks or request.benchmarks
    check_gpu_options(request, names, target)
    for spec in specs or (None,):
        builds = not options.dry_run
        setup = prepare(spec, target, request, view, enough, needs_kernels, builds)
        check_messages(setup.cards.chosen(request.benchmarks), options)
        tell_unknown_settings(setup, is_whole=options.tuned is None and not settings_vary)
        placed = with_gpus(setup, names, is_from_file=target.topology is not None)
        yield _with_settings(placed, options)


def _with_settings(setup: Setup, options: CommandOptions) -> Setup:
    """The setup with the settings of --transport and --tuned."""
    if options.transport is not None:
        from mpigauge.session.transport import with_transport

        setup = with_transport(setup, options.transport, start=not options.dry_run)
    if options.tuned is not None:
        from mpigauge.session.tuned import with_tuned

        setup = with_tuned(setup, options.tuned)
    return setup


def _check_before_build(request: Request, options: CommandOptions) -> None:
    """UserError: an option is wrong for the chosen benchmarks, as far as these come with mpigauge.
    Those that only the kernels have are checked after the build."""
    cards = all_cards()
    chosen: list[Card] = []
    try:
        chosen = cards.chosen(request.benchmarks)
    except UserError:
        from mpigauge.model.elsewhere import command_here

        if any(command_here(name, cards.names()) for name in request.benchmarks):
            raise  # no kernels have the programs of others
    if chosen:
        check_messages(chosen, options)
        check_options(request, chosen, cards)


def check_messages(chosen: Sequence[Card], options: CommandOptions) -> None:
    """UserError: an option is about messages, and all benchmarks are of the machine itself."""
    if not chosen or any(card.suite != NODE_SUITE for card in chosen):
        return
    names = first_few(card.name for card in chosen)
    for option, value in (("--transport", options.transport), ("--tuned", options.tuned)):
        if value is not None:
            raise UserError(f"{option} has no effect on {names}, which send no messages")


def _check_specs(specs: Sequence[str], form: str | None) -> None:
    for spec in specs:
        if specs.count(spec) > 1:
            raise UserError(f"--mpi {spec} is named twice; name each MPI once")
    if len(specs) > 1 and form not in (None, "table", "map"):
        raise UserError(
            f"--format {form} is of one run, and each of the {len(specs)} MPIs has its own; print "
            f"them afterwards with `mpigauge show RUN --format {form}`"
        )


def target_of(request: Request, options: CommandOptions) -> Target:
    """The hosts that somebody named, else those of the batch job, or machines as in the file."""
    from mpigauge.site import batch
    from mpigauge.site.topology import built

    if options.topology is not None and not options.dry_run:
        raise UserError("--topology is for --dry-run: nothing can be measured on a file")
    given = batch.here(os.environ)
    batch.check_inside(given, (host.name for host in request.hosts))
    return Target(
        hosts=request.hosts or batch.hosts(given),
        ppn=request.ppn,
        rsh=request.rsh,
        output=options.output,
        topology=None if options.topology is None else built(options.topology),
        given=given,
        launcher=request.launcher,
    )


def prepare(
    mpi_spec: str | None,
    target: Target,
    request: Request,
    view: View,
    enough: Collection[str] = (),
    needs_kernels: bool = True,
    builds: bool = True,
) -> Setup:
    """Finds the MPI, builds kernels for it where they are needed, and asks all hosts what they
    are. `builds`: not for a dry run, for which the cards that come with mpigauge will do."""
    from mpigauge.site.launch import cannot_start, check_launcher
    from mpigauge.site.mpi import find

    if target.ppn is not None and not target.hosts:
        raise UserError("--ppn means ranks on each host; name hosts with --hosts or --hostfile")
    if target.rsh and not target.hosts:
        raise UserError("--rsh is for hosts; name them with --hosts or --hostfile")
    mpi, given = find(mpi_spec), target.given
    here = Here(given.system.name if given else "")
    if target.launcher:
        check_launcher(target.launcher, here)
    elif reason := cannot_start(mpi, here):
        raise UserError(reason)
    machine = topology.read()
    if not target.hosts and target.topology is None and not request.oversubscribe:
        most = request.np or max(request.ranks, default=0)
        check_room_here(most, machine.cores)  # before anything is built
    if needs_kernels and builds:
        check_hosts(target, request, mpi, machine)
    built = _kernels(mpi, view, enough, builds) if needs_kernels else None
    cards = _cards(built)
    nodes = reach(target, mpi, built, view) if target.hosts and target.topology is None else ()
    resources = resources_of(target, machine, nodes)
    return Setup(machine, resources, mpi, built, cards, request, nodes, view=view)


def check_hosts(target: Target, request: Request, mpi: Mpi, machine: Machine) -> None:
    """Checks that hosts answer and have cores for all ranks, if kernels would be built first;
    otherwise they are asked once, and the plan checks the cores. UserError: one does not answer, or
    lacks cores."""
    from mpigauge.site.mpi import without_build

    if not target.hosts or target.topology is not None or without_build(mpi) is not None:
        return
    resources = resources_of(target, machine, probed(target, mpi, None))
    most = request.np or max(request.ranks, default=0)
    if most and GPU not in request.place:
        resources.placements(request, most)


def _kernels(mpi: Mpi, view: View, enough: Collection[str], builds: bool) -> Kernels | None:
    """The kernels for an MPI, built now if they are missing; None: they are, and nothing is to be
    built."""
    from mpigauge.site.mpi import kernels, without_build

    return kernels(mpi, view.report, enough) if builds else without_build(mpi)


def _cards(built: Kernels | None) -> Cards:
    """The benchmarks of the kernels, or all that come with mpigauge."""
    if built is not None:
        return Cards.load(built.cards)
    return all_cards()


def resources_of(target: Target, machine: Machine, nodes: Sequence[ProbedHost]) -> Resources:
    """This machine or the hosts, as they are or as the file says."""
    if like := target.topology:
        named = [(host, replace(like, hostname=host.name)) for host in target.hosts]
        return Resources(like, tuple(_site(*each, target) for each in named), target.ppn)
    hosts = tuple(_site(node, node.machine, target) for node in nodes)
    return Resources(machine, hosts, target.ppn)


def _site(host: NamedHost | ProbedHost, machine: Topology, target: Target) -> HostResources:
    return HostResources(host.name, machine, slots_of(host.slots, machine, target), host.most)


def slots_of(slots: int | None, machine: Topology, target: Target) -> int | None:
    """A batch system counts CPUs, which may be more than there are cores."""
    if target.given is None or slots is None:
        return slots
    return min(slots, machine.cores)


def agent_of(target: Target) -> Agent:
    """The agent that reaches the hosts: the given one, else the batch system's, else ssh."""
    from mpigauge.measuring.jobs.agent import Agent

    if target.rsh:
        return Agent(target.rsh)
    if target.given and (words := target.given.system.agent):
        return Agent(words, target.given.system.shell)
    return Agent()


def reach(target: Target, mpi: Mpi, kernels: Kernels | None, view: View) -> tuple[ProbedHost, ...]:
    """Asks all hosts for their machine and whether they see the MPI and the kernels, if there are
    any; the view gets their differences."""
    nodes = probed(target, mpi, kernels)
    for sentence in differences(nodes):
        view.note(sentence)
    return nodes


def probed(target: Target, mpi: Mpi, kernels: Kernels | None) -> tuple[ProbedHost, ...]:
    """The hosts with their machines. UserError: one does not answer, or lacks a file."""
    from mpigauge.measuring.trials.probe import probe
    from mpigauge.runs.store.writer import DEFAULT_ROOT

    folder = target.output.parent if target.output else DEFAULT_ROOT
    return probe(target.hosts, mpi, kernels, folder, agent_of(target))


def tell_unknown_settings(setup: Setup, is_whole: bool) -> None:
    """Settings that this MPI would silently pass over; another of several may know them. Where it
    cannot be asked, nobody knows. `is_whole`: no other settings are added later. UserError: it
    would not look at a file."""
    if setup.request.settings:
        from mpigauge.site.mpi.settings import knobs
        from mpigauge.site.mpi.settings.files import check_switched_on
        from mpigauge.site.mpi.settings.refuse import unknown

        mpi = setup.mpi
        every: tuple[Knob, ...] = ()
        with suppress(UserError):
            every = knobs(mpi)
            for name, hint in unknown(setup.request.settings, every, mpi):
                setup.view.note(f"{mpi.label} has no setting {name}; passed on anyway{hint}")
        if every and is_whole:
            check_switched_on(setup.request.settings, every, os.environ)

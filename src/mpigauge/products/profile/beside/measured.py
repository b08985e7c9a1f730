# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Measures the calls of a profile on its machine, and finds earlier measurements of them.

Measurements are ordinary runs. Runs of the same MPI on the same hosts and cores, without settings
of their own, are searched next to the profile and in mpigauge-runs; runs that were made for this
profile come first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpigauge.measuring.plan.arrivals import MPI, name_of, vectors
from mpigauge.model.errors import UserError
from mpigauge.model.suite_options import ARRIVAL, ROOT
from mpigauge.model.units import byte_count, listed, many, percent
from mpigauge.products.profile import KIND
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.analyse.jobs import accounts_of, main_jobs
from mpigauge.products.profile.beside.joined import Joined, MachineFigures, joined
from mpigauge.products.profile.beside.needs import Need, needed, uses_of
from mpigauge.site.mpi.query import name_and_version

if TYPE_CHECKING:
    from mpigauge.measuring.plan import Plan, PlanPart
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.row import Row
    from mpigauge.products.profile.store.stored import ProfiledJob
    from mpigauge.runs.store import Run
    from mpigauge.session.targets import Setup

MEASURED_FOR = "measured_for"
"""The key in run.json with the name of the profile for which a run was made."""
SECONDS_A_CELL, LEAST_SECONDS, MOST_SECONDS = 8.0, 20.0, 180.0
MOST_RUNS = 40
"""The maximum number of runs of a folder that are searched, the newest."""


# --- what was measured ---------------------------------------------------------------------------


def joined_at(folder: Path, jobs: Sequence[ProfiledJob]) -> Joined | None:
    """Joins the profile with stored measurements of its calls; None: no rank was seen, or the
    profile is a report of another profiler, which lacks the MPI."""
    shown = main_jobs(jobs)
    if not shown or shown[0].source:
        return None
    account = accounts_of(shown)[0]
    uses = uses_of(account)
    benchmarks = {use.need.benchmark for use in uses}
    rows = [row for run in _runs(folder, account, benchmarks) for row in _rows(run)]
    return joined(account, uses, MachineFigures(rows, name_of(folder.name)))


def _runs(folder: Path, account: Account, benchmarks: set[str]) -> Iterator[Run]:
    """Yields the runs that fit, those made for the profile first, then newest first."""
    from mpigauge.runs.store import load

    headers = dict(_headers(folder))
    ours = [path for path, header in headers.items() if header.get(MEASURED_FOR) == folder.name]
    others = [path for path in headers if path not in ours]
    for path in (*reversed(ours), *reversed(others)):
        if not benchmarks & set((headers[path].get("plan") or {}).get("benchmarks") or ()):
            continue
        try:
            run = load(path)
        except UserError:
            continue
        if _fits(run, account, path in ours):
            yield run


def _headers(folder: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yields headers of runs next to the profile and in the usual folder, oldest first."""
    from mpigauge.runs.store import list_runs
    from mpigauge.runs.store.writer import DEFAULT_ROOT

    roots = dict.fromkeys(root.resolve() for root in (folder.absolute().parent, DEFAULT_ROOT)
                          if root.is_dir())  # fmt: skip
    for root in roots:
        for summary in list_runs(root)[-MOST_RUNS:]:
            try:
                header = json.loads((summary.path / "run.json").read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if isinstance(header, dict) and header.get("kind") != KIND:
                yield summary.path, header


def _fits(run: Run, account: Account, ours: bool) -> bool:
    """True if the run has the same MPI, and unless made for the profile, hosts, cores, settings."""
    mpi = run.header.get("mpi") or {}
    same_mpi = (mpi.get("name"), mpi.get("version")) == name_and_version(account.ranks[0].library)
    if ours or not same_mpi:
        return same_mpi
    plain = not (run.plan.get("settings") or run.plan.get("env"))
    hosts = {rank.host for rank in run.ranks} == {file.host for file in account.ranks}
    return plain and hosts and _same_cores(run, account)


def _same_cores(run: Run, account: Account) -> bool:
    """True if the run used cores of the program, or ranks of the program were not bound."""
    from mpigauge.model.cpu_lists import as_list

    bound = all(len(file.cpus) == 1 for file in account.ranks)
    program = {(file.host, as_list(file.cpus)) for file in account.ranks}
    measured = {(rank.host, rank.cpuset) for rank in run.ranks}
    return not bound or measured <= program


def _rows(run: Run) -> list[Row]:
    from mpigauge.result.document import rows_of_run

    return rows_of_run(run)


# --- measuring -----------------------------------------------------------------------------------


def measure_needs(folder: Path, jobs: Sequence[ProfiledJob], options: Mapping[str, Any]) -> None:
    """Measures the cells that a profile needs in a run next to it, after printing the expected
    time. `options`: options of the launch. UserError: they cannot be measured here."""
    from mpigauge.cli.output import tell
    from mpigauge.session.costing import cost_words
    from mpigauge.session.measuring import PlannedRun, check, measure
    from mpigauge.session.targets import CommandOptions

    shown = main_jobs(jobs)
    needs = needed(account := accounts_of(shown)[0], uses_of(account)) if shown else {}
    if not needs:
        tell("nothing to measure: no call that is a benchmark takes 1 % of the time in MPI")
        return
    setup = _setup(account, options)
    plan = _plan(account, needs, setup, name_of(folder.name))
    run = PlannedRun(setup, plan, more={MEASURED_FOR: folder.name})
    check([run], CommandOptions())
    for line in _announced(needs):
        tell(line)
    tell(cost_words(run))
    output = folder.with_name(f"{folder.name}-measured")
    number = 1
    while output.exists():
        number += 1
        output = folder.with_name(f"{folder.name}-measured-{number}")
    measured = measure([run], output, "measured")
    tell(f"measured in {output}")
    measured.raise_problems()


def _announced(needs: Mapping[Need, float]) -> Iterator[str]:
    words = [f"{_words(need)} ({percent(share)})" for need, share in needs.items()]
    yield f"measures {many(len(needs), 'cell')}, by their share of the time in MPI: {listed(words)}"


def _words(need: Need) -> str:
    size = f" of {byte_count(need.message_bytes)}" if need.message_bytes >= 0 else ""
    root = f" with root {need.root}" if need.root else ""
    return f"{need.benchmark}{size} on {many(need.ranks, 'rank')}{root}"


def _setup(account: Account, options: Mapping[str, Any]) -> Setup:
    """Returns a setup like the program's launch: its MPI, and the cores of its ranks."""
    from mpigauge.cli.output.terminal import TERMINAL
    from mpigauge.measuring.plan import read_request
    from mpigauge.session.lookups import look_up
    from mpigauge.session.setup import set_up
    from mpigauge.session.targets import CommandOptions

    requested = dict(options)
    names = ("mpi_spec", "transport", "tuned")
    spec, transport, tuned = (requested.pop(name, None) for name in names)
    requested.pop("np", None)
    if not requested.get("place") and (cores := _cores(account)):
        requested["place"] = (f"cores:{cores}",)
    requested["np"] = str(len(account.ranks))
    request = read_request(requested, look_up(requested))
    spec = spec or mpi_of(account.ranks[0].library).spec
    (setup,) = set_up(request, CommandOptions((spec,), transport, tuned=tuned), TERMINAL)
    _check_hosts(account, setup)
    if " ".join(name_and_version(setup.mpi.library_string)) != account.mpi:
        raise UserError(
            f"the profile is of {account.mpi}, --mpi names {setup.mpi.label}; name the MPI of the "
            "profile"
        )
    return setup


def _check_hosts(account: Account, setup: Setup) -> None:
    program = {_short(file.host) for file in account.ranks}
    if program != {_short(host.topology.hostname) for host in setup.resources.all_hosts}:
        raise UserError(
            f"the profile is of {listed(sorted(program))}, and nothing else can be set beside it; "
            "measure there, or name the hosts with --hosts"
        )


def _short(host: str) -> str:
    return host.partition(".")[0]


def _cores(account: Account) -> str:
    """Returns the core of each rank; empty if ranks moved or share cores, or on several hosts."""
    cpus = []
    for file in account.ranks:
        if len(file.cpus) == 1:
            cpus.append(next(iter(file.cpus), -1))
    hosts = {file.host for file in account.ranks}
    alone = len(set(cpus)) == len(account.ranks) and len(hosts) == 1
    if alone:
        return ",".join(map(str, cpus))
    return ""


def mpi_of(library: str) -> Mpi:
    """Returns the MPI with this version string. UserError: it is not installed."""
    from mpigauge.site.mpi.listing import everything

    identity = name_and_version(library)
    for each in everything().listed:
        if name_and_version(each.mpi.library_string) == identity:
            return each.mpi
    raise UserError(
        f"the profile is of {' '.join(identity)}, which is not found here; name it with --mpi"
    )


def _plan(account: Account, needs: Mapping[Need, float], setup: Setup, arrivals: str) -> Plan:
    """Returns a plan with a part for each benchmark, type, root and number of ranks. `arrivals`:
    the name of this profile's arrivals."""
    from dataclasses import replace

    from mpigauge.measuring.plan.resolve import plan_of

    request = setup.request
    where = setup.resources.one_placement(request, len(account.ranks), "a profile is of")
    seated = [setup.resources.seated(each, where) for each in parts_for(needs, len(account.ranks))]
    parts = tuple(
        each if setup.resources.crowded(each) else _arriving(account, each, arrivals)
        for each in seated
    )
    usual = min(max(SECONDS_A_CELL * len(needs), LEAST_SECONDS), MOST_SECONDS)
    plan = plan_of(request, parts, setup.cards, setup.resources, setup.mpi)
    return replace(plan, seconds=request.seconds or usual, use_all=False)


def parts_for(needs: Iterable[Need], world_ranks: int) -> Iterator[PlanPart]:
    """Yields the parts of a plan; needs that only differ in size share one."""
    from mpigauge.measuring.plan.plan import PlanPart

    together: dict[Need, list[int]] = {}
    for need in needs:
        alike = need._replace(message_bytes=0)
        together.setdefault(alike, []).append(need.message_bytes)
    for need, sizes in together.items():
        options = {"datatype": need.datatype, "op": need.op} if need.op else {}
        if need.root:
            options[ROOT] = str(need.root)
        yield PlanPart(
            benchmarks=(need.benchmark,),
            world_ranks=world_ranks,
            ranks=(need.ranks,),
            sizes=tuple(sorted(size for size in set(sizes) if size >= 0)) or (0,),
            suite_options=options,
        )


def _arriving(account: Account, part: PlanPart, name: str) -> PlanPart:
    """Returns a part with the arrival pattern of the program, if that is known."""
    from dataclasses import replace

    alike = [
        each
        for each in account.profile.arrivals
        if part.benchmarks == (each.call.removeprefix(MPI),) and part.ranks == (each.ranks,)
    ]
    if not alike:
        return part
    longest = max(alike, key=lambda each: each.seconds)
    return replace(part, suite_options={**part.suite_options, ARRIVAL: vectors(name, longest)})

# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The words that a shell completes after options and commands, without starting anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import click

KINDS = ("shm", "tcp", "ucx", "ofi")
"""The kinds of transports."""
INTERFACES = Path("/sys/class/net")


def benchmarks(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """Returns the words that name benchmarks: with their suite, those of MPI1 also alone, and
    suites."""
    del ctx, param
    from mpigauge.model.stored_cards import all_cards

    cards = all_cards()
    return _beginning([*cards.suites(), *cards.names()], begun)


def runs(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """Returns the runs below mpigauge-runs, `last` and references; beginnings of paths name
    files."""
    del ctx, param
    from mpigauge.runs.readers.references import names
    from mpigauge.runs.store import run_folders
    from mpigauge.runs.store.imported import REFERENCE
    from mpigauge.runs.store.writer import DEFAULT_ROOT
    from mpigauge.session.run_names import LAST

    stored = sorted(run_folders(DEFAULT_ROOT), reverse=True) if DEFAULT_ROOT.is_dir() else []
    candidates = [LAST, *stored, *(f"{REFERENCE}{name}" for name in names())]
    return _beginning(candidates, begun)


def references(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """Published systems, without ref: before them."""
    del ctx, param
    from mpigauge.runs.readers.references import names

    return _beginning(names(), begun)


def mpis(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """MPIs that can be installed, those that are, and `path`."""
    del ctx, param
    from mpigauge.site.mpi.packages.wheels import WHEELS, installed

    there = [f"{name}=={_version(path.name)}" for name in WHEELS for path in installed(name)]
    return _beginning([*WHEELS, *there, "path"], begun)


def transports(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The kinds that there are, and TCP over each interface; `mpigauge mpi transports` tells
    which of them an MPI can use."""
    del ctx, param
    interfaces = sorted(path.name for path in INTERFACES.glob("*"))
    return _beginning([*KINDS, *(f"tcp:{name}" for name in interfaces)], begun)


def placements(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """Placements with what has to follow their names, and behind a comma, too."""
    del ctx, param
    from mpigauge.site.placement.registry import POLICIES

    before, comma, last = begun.rpartition(",")
    names = [f"{name}:" if of.argument and not of.optional else name
             for name, of in POLICIES.items()]  # fmt: skip
    return [f"{before}{comma}{name}" for name in _beginning(names, last)]


def settings(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """Settings that matter for measurements, of all MPIs."""
    del ctx, param
    from mpigauge.site.mpi.settings import catalogue

    variables = (entry.variable for entry in catalogue.entries() if not entry.is_family)
    return _beginning([f"{variable}=" for variable in variables], begun)


def columns(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The columns for --pivot."""
    del ctx, param
    from mpigauge.model.column_facts import IDENTITY
    from mpigauge.result.compare.compare import NOT_VARIED
    from mpigauge.result.compare.pivot import OF_RUNS

    of_cells = [name for name in IDENTITY if name not in NOT_VARIED]
    return _beginning(["placement", "setting", *OF_RUNS, *of_cells], begun)


def _version(folder: str) -> str:
    return folder.rpartition("-")[2]


def _beginning(names: Iterable[str], begun: str) -> list[str]:
    """The names with this beginning, in upper or lower case, each once."""
    low = begun.lower()
    return [name for name in dict.fromkeys(names) if name.lower().startswith(low)]
